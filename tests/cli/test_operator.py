"""The verbs an operator lives with, on a store with a story in it."""

from __future__ import annotations

import json

import pytest

from greenroom.cli.main import COMMANDS, load, main
from greenroom.model.words import Phase
from greenroom.policy.rules import GroupRule
from greenroom.store import open_store
from stories.cluster import Story


@pytest.fixture
def story(tmp_path, monkeypatch):
    """Two nodes in service, one with a person; the store on disk, the controller stopped."""
    config = tmp_path / "greenroom.toml"
    config.write_text(
        f'[controller]\nstate_dir = "{tmp_path}"\n[scheduler]\nkind = "memory"\n'
        '[groups.train]\nnodes = "gpu-[01-03]"\nmin = 2\n'
    )
    monkeypatch.setenv("GREENROOM_CONFIG", str(config))
    monkeypatch.setenv("SUDO_USER", "ann")
    group = GroupRule(name="train", nodes=frozenset({"gpu-01", "gpu-02", "gpu-03"}), size=3, minimum=2)
    story = Story(store=open_store(f"sqlite:///{tmp_path}/greenroom.db"), groups=(group,))
    story.join("gpu-01", "gpu-02")
    story.join("gpu-03", faults=["gpu.missing"])
    story.turn(20)
    yield story
    story.store.close()


def run(capsys, *argv):
    code = main(list(argv))
    return code, capsys.readouterr()


def as_json(capsys, *argv):
    code, said = run(capsys, *argv, "--json")
    assert code == 0, said.err
    return json.loads(said.out)


def test_nodes_shows_phase_verdict_attempts_and_reason(story, capsys):
    code, said = run(capsys, "nodes")
    assert code == 0
    lines = said.out.splitlines()
    assert lines[0].split() == ["NODE", "PHASE", "VERDICT", "SINCE", "ATTEMPTS", "REASON"]
    assert lines[3].split()[:3] == ["gpu-03", "with_person", "unfit"]
    assert "reboot did not help" in lines[3]
    assert [node["node"] for node in as_json(capsys, "nodes", "-w", "gpu-[02-03]")] == ["gpu-02", "gpu-03"]
    assert [node["node"] for node in as_json(capsys, "nodes", "--phase", "in_service")] == [
        "gpu-01",
        "gpu-02",
    ]


def test_node_and_explain_tell_the_whole_story(story, capsys):
    _, said = run(capsys, "node", "gpu-03")
    assert "recovering -> held" in said.out
    _, said = run(capsys, "explain", "gpu-03")
    for part in (
        "every new node is checked",
        "start light check",
        "says unfit: gpu.missing",
        "reboot (gpu-03-",
        "every repair is followed by a check",
        "tell a person: gpu-03 needs a person",
    ):
        assert part in said.out, said.out
    assert as_json(capsys, "explain", "gpu-03")[0]["rule"] == "every new node is checked"


def test_runs_and_run(story, capsys):
    runs = as_json(capsys, "runs", "--node", "gpu-03")
    assert [run["verdict"] for run in runs] == ["unfit", "unfit"]
    code, said = run(capsys, "run", runs[0]["run_id"])
    assert code == 0
    assert "verdict: unfit" in said.out
    code, said = run(capsys, "run", "nonsense")
    assert (code, "no run 'nonsense'" in said.err) == (1, True)


def test_hold_release_admit_retire_are_audited_with_the_users_name(story, capsys):
    assert run(capsys, "hold", "gpu-[01-02]", "--reason", "cabling")[0] == 0
    story.turn(2)
    assert {story.phase("gpu-01"), story.phase("gpu-02")} == {Phase.HELD}
    assert story.state("gpu-01").operator_hold == "ann: cabling"
    assert as_json(capsys, "release", "gpu-01", "--reason", "done")[0]["phase"] == "held"
    story.turn(6)
    assert story.phase("gpu-01") is Phase.IN_SERVICE
    assert run(capsys, "admit", "gpu-02", "--reason", "I know it")[0] == 0
    assert story.state("gpu-02").admitted.by == "ann"
    assert run(capsys, "retire", "gpu-03", "--reason", "sold")[0] == 0
    assert story.phase("gpu-03") is Phase.RETIRED
    _, said = run(capsys, "explain", "gpu-02")
    assert "ann: hold: cabling" in said.out


def test_a_reason_is_required_and_unknown_nodes_are_named_before_anything_is_done(story, capsys):
    assert run(capsys, "hold", "gpu-01")[0] == 64
    code, said = run(capsys, "hold", "gpu-01,gpu-10", "--reason", "x")
    assert code == 1
    assert "no node 'gpu-10'" in said.err
    assert "gpu-01" in said.err
    assert story.phase("gpu-01") is Phase.IN_SERVICE
    code, said = run(capsys, "hold", "gpu-[01", "--reason", "x")
    assert (code, "gpu-[01" in said.err) == (64, True)


def test_check_nodes_asks_in_waves_and_says_so(story, capsys):
    code, said = run(capsys, "check-nodes", "-g", "train", "--profile", "quick", "--reason", "new driver")
    assert code == 0
    assert "gpu-01: checked when its turn comes" in said.out
    assert "gpu-03: not checked: it is with_person" in said.out
    story.turn(10)
    assert [one["profile"] for one in as_json(capsys, "runs", "--node", "gpu-01")] == ["quick", "light"]
    assert run(capsys, "check-nodes", "--profile", "quick")[0] == 64
    assert run(capsys, "check-nodes", "-w", "gpu-01", "--max-wait", "soon")[0] == 64


def test_check_nodes_by_partition_and_feature(story, capsys):
    story.scheduler.cluster["gpu-01"].groups = ("h100",)
    story.scheduler.cluster["gpu-02"].features = ("nvlink",)
    story.turn()
    _, said = run(capsys, "check-nodes", "-p", "h100", "--profile", "quick")
    assert [line.split(":")[0] for line in said.out.splitlines()] == ["gpu-01"]
    _, said = run(capsys, "check-nodes", "-C", "nvlink", "--profile", "quick")
    assert [line.split(":")[0] for line in said.out.splitlines()] == ["gpu-02"]
    code, said = run(capsys, "check-nodes", "-p", "nope", "--profile", "quick")
    assert (code, "no node known in partition nope" in said.err) == (1, True)


def test_groups_and_wait(story, capsys):
    group = as_json(capsys, "groups")[0]
    assert (group["wanted"], group["arrived"], group["admitted"], group["with_person"]) == (3, 3, 2, 1)
    assert group["time_to_admit_s"] > 0
    code, said = run(capsys, "wait", "--group", "train")
    assert (code, said.out.strip()) == (0, "gpu-[01-02]")
    assert "2 of 2 admitted" in said.err
    code, said = run(capsys, "wait", "--group", "train", "--min", "3", "--timeout", "0.1s")
    assert (code, said.out) == (1, "")
    assert "2 of 3 nodes are admitted" in said.err
    assert run(capsys, "wait", "--group", "tran")[0] == 64


def test_an_unknown_command_names_the_nearest(capsys):
    code, said = run(capsys, "nods")
    assert (code, "did you mean 'nodes'" in said.err) == (64, True)


def test_every_command_loads_has_help_and_help_imports_none(capsys):
    for name in set(COMMANDS) - {"ask"}:
        assert load(name).help, name
    code, said = run(capsys, "--help")
    assert code == 0
    assert all(name in said.out for name in COMMANDS)


def test_a_wrong_configuration_is_exit_code_78(tmp_path, capsys):
    (tmp_path / "x.toml").write_text("[gat]\n")
    code, said = run(capsys, "nodes", "--config", str(tmp_path / "x.toml"))
    assert code == 78
    assert "x.toml:1: gat: unknown key; did you mean 'gate'?" in said.err
    assert "Traceback" not in said.err
