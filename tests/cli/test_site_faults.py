"""The site's own word on faults, on the node and on a colleague's paste."""

from __future__ import annotations

import json

import pytest

from greenroom.cli.main import main
from greenroom.faults import lookup, overlay
from greenroom.model.words import Exit
from greenroom.probes.recording import Tape, save

GRAVE = "[    1.500000] NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.\n"
"""Of severity fail in our catalogue."""
SOFTER = '["gpu.xid.79"]\nseverity = "note"\ncomment = "risers of the lab are touched daily"\n'


@pytest.fixture(autouse=True)
def _ours_afterwards():
    yield
    overlay(())


@pytest.fixture
def site(tmp_path):
    path = tmp_path / "faults.toml"
    path.write_text(SOFTER)
    return path


def test_a_paste_is_read_as_the_site_sees_it(tmp_path, site, capsys, monkeypatch):
    paste = tmp_path / "paste"
    paste.write_text(GRAVE)
    seen = []
    for more in ([], ["--faults", str(site)]):
        code = main(["diagnose", str(paste), "--json", *more])
        seen.append((code, json.loads(capsys.readouterr().out)["incidents"][0]["severity"]))
    assert seen == [(1, "fail"), (0, "note")]
    monkeypatch.setenv("GREENROOM_FAULTS", str(site))
    assert main(["diagnose", str(paste)]) == 0


def test_the_site_is_no_longer_asked_by_the_next_command(site):
    overlay([site])
    assert lookup("gpu.xid.79").severity == "note"
    main(["diagnose", "--kind", "list"])
    assert lookup("gpu.xid.79").severity == "fail"


def test_a_node_is_judged_as_the_site_sees_it(tmp_path, capsys):
    line = "3,9,9000000,-;EXT4-fs error (device sda2): ext4_find_entry:1234: inode #2: comm bash: reading\n"
    save(Tape(files={"/dev/kmsg": line, "/proc/uptime": "10.0 9.0"}, clock=1000.0), tmp_path / "tape")
    site = tmp_path / "faults.toml"
    severities = []
    for word in ("fail", "note"):
        site.write_text(f'["host.fs.error"]\nseverity = "{word}"\ncomment = "the disk is a spare one"\n')
        main(
            [
                "check",
                "--replay",
                f"{tmp_path}/tape",
                "--only",
                "kernel_log.host",
                "--faults",
                str(site),
                "--json",
            ]
        )
        (result,) = json.loads(capsys.readouterr().out)["results"]
        severities += [finding["severity"] for finding in result["findings"]]
    assert severities == ["fail", "note"]


@pytest.mark.parametrize("verb", [["check"], ["diagnose"]])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('["gpu.xid.79"]\nseverity = "note"\n', ":1: gpu.xid.79.comment: missing"),
        ('["gpu.xid.79"]\nseverity = "mild"\ncomment = "x"\n', ":2: gpu.xid.79.severity"),
        ("[", "not valid TOML"),
    ],
)
def test_a_wrong_file_is_refused_before_anything_is_looked_at(tmp_path, capsys, verb, text, said):
    path = tmp_path / "faults.toml"
    path.write_text(text)
    assert main([*verb, "--faults", str(path)]) == Exit.USAGE
    assert f"{path}" in (err := capsys.readouterr().err)
    assert said in err
