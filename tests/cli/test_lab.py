"""The lab's commands, as far as they need no cluster."""

from __future__ import annotations

import io
import json
import os
import sys

import pytest

from greenroom.cli.lab import _supervisor
from greenroom.cli.main import main
from greenroom.lab.processes import started_at


@pytest.mark.parametrize("fault", ["gpu-09=ecc", "gpu-01=rust", "gpu-01", "=ecc"])
def test_an_unknown_fault_is_named_before_anything_starts(tmp_path, capsys, fault):
    assert main(["lab", "up", "--dir", str(tmp_path), "--fault", fault]) == 64
    said = capsys.readouterr().err
    assert fault in said
    assert "gpu-01..gpu-07 = missing, ecc" in said
    assert not list(tmp_path.iterdir())


def test_without_a_lab_there_is_nothing_to_join_or_end(tmp_path, capsys):
    assert main(["lab", "join", "gpu-05", "--dir", str(tmp_path)]) == 64
    assert "no lab is up" in capsys.readouterr().err
    assert main(["lab", "down", "--dir", str(tmp_path)]) == 0
    assert "no lab is up" in capsys.readouterr().out


def test_a_pid_counts_only_with_its_start_time(tmp_path):
    ours = {"pid": os.getpid(), "started": started_at(os.getpid())}
    (tmp_path / "up.json").write_text(json.dumps(ours))
    assert _supervisor(tmp_path) == os.getpid()
    (tmp_path / "up.json").write_text(json.dumps({**ours, "started": ours["started"] - 1}))
    assert _supervisor(tmp_path) == 0
    (tmp_path / "up.json").write_text("{")
    assert _supervisor(tmp_path) == 0


@pytest.mark.parametrize("text", ["", "[]", '{"action": "start"}', '{"action_id": "../x", "node": "a"}'])
def test_a_replacement_asked_for_unreadably_is_refused(tmp_path, capsys, monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    assert main(["lab", "replace", "--dir", str(tmp_path)]) == 64
    assert "standard input" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
