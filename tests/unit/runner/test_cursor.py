from __future__ import annotations

import json

import pytest

from greenroom.cli.main import main
from greenroom.probes.recorded import RecordedHost
from greenroom.runner.cursor import move_cursor, read_cursor


def boot(name, clock=2000.0):
    return RecordedHost(files={"/proc/sys/kernel/random/boot_id": f"{name}\n"}, clock=clock)


def test_the_place_is_kept_for_one_boot(tmp_path):
    assert read_cursor(tmp_path, boot("a")) == 0.0
    move_cursor(tmp_path, boot("a"), at=1500.0, why="admitted")
    assert read_cursor(tmp_path, boot("a")) == 1500.0
    assert read_cursor(tmp_path, boot("b")) == 0.0


def test_it_never_moves_back_and_never_ahead_of_the_clock(tmp_path):
    move_cursor(tmp_path, boot("a"), at=1500.0, why="x")
    move_cursor(tmp_path, boot("a"), at=1400.0, why="a late report")
    assert read_cursor(tmp_path, boot("a")) == 1500.0
    assert read_cursor(tmp_path, boot("a", clock=1000.0)) == 0.0  # the clock was set back: nothing is hidden


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"at": "x", "boot_id": "a"}', '{"at": 1500, "boot_id": ""}']
)
def test_a_file_that_is_no_cursor_hides_nothing(tmp_path, text):
    (tmp_path / "cursor.json").write_text(text)
    assert read_cursor(tmp_path, boot("a")) == 0.0
    assert read_cursor(tmp_path, RecordedHost()) == 0.0


def test_a_person_says_that_it_was_repaired(tmp_path, capsys):
    assert main(["handled", "reset GPU 3", "--state-dir", str(tmp_path)]) == 0
    kept = json.loads((tmp_path / "cursor.json").read_text())
    assert kept["why"].endswith(": reset GPU 3")
    assert kept["at"] > 1.7e9
    assert "count from" in capsys.readouterr().out
    assert main(["handled", " ", "--state-dir", str(tmp_path)]) == 64
