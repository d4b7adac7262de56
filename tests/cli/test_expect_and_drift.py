"""`greenroom expect` and `greenroom drift` as a person calls them: on reports that `check` wrote."""

from __future__ import annotations

import json
import shutil

import pytest

from greenroom.cli.main import main

QUIET = ["check", "--profile", "light", "--only", "configuration.drift", "--only", "memory.size", "--json"]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Nine reports of this machine; n4 has another swappiness."""
    folder = tmp_path_factory.mktemp("reports")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        first = folder / "n0.json"
        import contextlib
        import io

        with contextlib.redirect_stdout(io.StringIO()) as out:
            main([*QUIET, "--node", "n0"])
        first.write_text(out.getvalue())
    data = json.loads(first.read_text())
    data["verdict"] = "fit"
    for number in range(9):
        data["node"] = f"n{number}"
        (folder / f"n{number}.json").write_text(json.dumps(data))
    text = json.dumps(data | {"node": "n4"}).replace(
        '"sysctl.vm.swappiness": "', '"sysctl.vm.swappiness": "9'
    )
    (folder / "n4.json").write_text(text)
    return folder


def test_the_odd_one_of_a_fleet(reports, capsys):
    assert main(["drift", str(reports), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["nodes"] == 9
    assert [one["fact"] for one in told["drift"]["n4"]] == ["sysctl.vm.swappiness"]
    assert list(told["drift"]) == ["n4"]
    assert main(["drift", str(reports)]) == 1
    assert "89%" in capsys.readouterr().out


def test_against_a_good_machine(reports, tmp_path, capsys):
    golden = tmp_path / "golden.json"
    assert main(["drift", str(reports / "n0.json"), "--save", str(golden)]) == 0
    assert main(["drift", str(reports / "n1.json"), "--against", str(golden)]) == 0
    assert "alike" in capsys.readouterr().out
    assert main(["drift", str(reports / "n4.json"), "--against", str(reports / "n0.json")]) == 1
    assert main(["drift", "--against", str(golden)]) == 0  # this machine itself


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["drift"], "one machine has nothing to differ from"),
        (["drift", "{tmp}"], "no reports"),
        (["drift", "{tmp}/x.json"], "x.json: report 1"),
        (["drift", "{tmp}/r/n0.json", "--against", "{tmp}/x.json"], "--against"),
        (["drift", "{tmp}/r", "--save", "{tmp}/y"], "these are 9"),
        (["expect", "learn"], "give reports"),
        (["expect", "learn", "{tmp}/r", "--gpu", "H100"], "expected reports of one kind of GPU, got none"),
        (["expect", "learn", "{tmp}/r", "--min-nodes", "10"], "9 healthy nodes, it takes 10"),
        (["expect", "diff", "h900", "{tmp}/x.json"], "no such file, and no model of"),
    ],
)
def test_what_cannot_be_done_is_said(reports, tmp_path, capsys, args, says):
    if "{tmp}" not in args:
        (tmp_path / "x.json").write_text("[1]")
        shutil.copytree(reports, tmp_path / "r")
    assert main([arg.format(tmp=tmp_path) for arg in args]) == 64
    assert says in " ".join(capsys.readouterr().err.split())


def test_learned_shown_compared_and_linted(reports, tmp_path, capsys):
    learned = tmp_path / "learned.toml"
    assert main(["expect", "learn", str(reports), "-o", str(learned)]) == 0
    assert "memory.total_gib_min" not in learned.read_text()
    assert "total_gib_min = { value =" in learned.read_text()
    assert main(["expect", "lint", str(learned)]) == 0
    assert main(["expect", "show", "--expected", str(learned), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out.partition("{")[2].join(["{", ""]))
    assert shown["memory.total_gib_min"]["nodes"] == 9
    assert main(["expect", "diff", "h100", str(learned)]) == 1
    assert "memory.total_gib_min" in capsys.readouterr().out
    assert main(["expect", "diff", str(learned), str(learned)]) == 0
    learned.write_text("[gpu]\ncuont = 1\n")
    assert main(["expect", "lint", str(learned)]) == 1
    assert "did you mean" in capsys.readouterr().out
