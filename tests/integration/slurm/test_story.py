"""The main job itself, as `make run` plays it - and that it can come out wrong."""

from __future__ import annotations

from greenroom.cli.main import main
from greenroom.lab import story
from greenroom.model.words import Phase


def test_the_story_comes_out_right(lab_dir, capfd):
    assert main(["lab", "story", "--dir", str(lab_dir / "story")]) == 0
    told = capfd.readouterr().out
    assert told.count("  yes  ") == 7
    assert "gpu-06 recovering -> held: after replace" in told
    assert "gpu-07 checking -> with_person" in told


def test_a_story_that_comes_out_wrong_is_told_so(lab_dir, capfd, monkeypatch):
    """A fault on a node that should be healthy: not in its place, repaired although it should not be."""
    monkeypatch.setattr(story, "FAULTS", {"gpu-02": ["missing"]})
    monkeypatch.setattr(story, "LATE", ())
    monkeypatch.setattr(story, "EXPECTED", dict.fromkeys(story.FIRST, Phase.IN_SERVICE))
    monkeypatch.setattr(story, "LIMIT_S", 30.0)
    assert main(["lab", "story", "--dir", str(lab_dir / "wrong")]) == 1
    told = capfd.readouterr().out
    assert "NO   every node came to its place" in told
    assert "NO   healthy nodes were not repaired" in told
