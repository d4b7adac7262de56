"""What slurm.conf has and lacks."""

from __future__ import annotations

import json

import pytest

from greenroom.cli.main import main

GOOD = """\
# a comment
NodeName=DEFAULT State=DRAIN Reason="greenroom: born held"
NodeName=gpu-[01-04] CPUs=16 Gres=gpu:h100:8
NodeName=gpu-05 CPUs=16 \\
  State=DRAIN
PartitionName=main Nodes=ALL State=UP
Prolog={prolog}
prologflags=Alloc,NoHold
SchedulerParameters=bf_interval=2,nohold_on_prolog_fail
RebootProgram=/sbin/reboot
SuspendProgram=/bin/true
SuspendExcStates=DRAIN,MAINTENANCE
"""


@pytest.fixture
def conf(tmp_path):
    prolog = tmp_path / "prolog"
    prolog.write_text("#!/bin/sh\nexec greenroom ask\n")
    path = tmp_path / "slurm.conf"
    path.write_text(GOOD.format(prolog=prolog))
    return path


def missing(conf, capsys):
    code = main(["install", "slurm", "--check", "--json", "--conf", str(conf)])
    points = json.loads(capsys.readouterr().out)
    lacking = [point["what"] for point in points if not point["ok"]]
    assert code == (1 if lacking else 0)
    return lacking


def test_a_good_file_lacks_nothing(conf, capsys):
    assert missing(conf, capsys) == []


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("  State=DRAIN", "  State=UNKNOWN", "nodes born held"),
        ("NodeName=DEFAULT State=DRAIN", "NodeName=DEFAULT", "nodes born held"),
        ("Prolog=", "Epilog=", "prolog"),
        ("prologflags=Alloc", "PrologFlags=X11", "prolog at allocation"),
        (",nohold_on_prolog_fail", "", "refused jobs start elsewhere"),
        ("SuspendExcStates=DRAIN,MAINTENANCE", "", "power saving spares held nodes"),
        ("RebootProgram", "#RebootProgram", "reboot"),
        ("# a comment", "DisableRootJobs=YES", "root may run jobs"),
    ],
)
def test_each_lack_is_named(conf, capsys, old, new, what):
    text = conf.read_text()
    assert old in text
    conf.write_text(text.replace(old, new))
    assert missing(conf, capsys) == [what]


def test_a_prolog_that_does_not_ask_is_none(conf, capsys, tmp_path):
    (tmp_path / "prolog").write_text("#!/bin/sh\nexit 0\n")
    assert missing(conf, capsys) == ["prolog"]


def test_a_file_that_is_not_there_is_named(tmp_path, capsys):
    assert main(["install", "slurm", "--check", "--conf", str(tmp_path / "none.conf")]) == 78
    assert "none.conf: No such file" in capsys.readouterr().err


def test_the_printed_lines_are_enough(tmp_path, capsys):
    main(["install", "slurm"])
    text = capsys.readouterr().out
    (tmp_path / "prolog").write_text("greenroom ask")
    text = text.replace("/etc/greenroom/prolog  ", f"{tmp_path}/prolog ")
    (tmp_path / "slurm.conf").write_text(text + "NodeName=gpu-01\n")
    assert missing(tmp_path / "slurm.conf", capsys) == []
