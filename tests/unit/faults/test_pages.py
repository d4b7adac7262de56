"""The pages of the catalogue are the ones the code makes."""

from __future__ import annotations

from pathlib import Path

from greenroom.faults.docs import pages

DOCS = Path(__file__).parents[3] / "docs/faults"


def test_committed_pages_are_the_generated_ones():
    assert {path.name: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")} == pages(), (
        "run `make docs`"
    )
