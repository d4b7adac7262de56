"""Tables that are handed out beside the repository and are not part of it."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def shared_table(name):
    """A table of the data handed out beside the repository."""
    folder = Path(os.environ.get("GREENROOM_SHARED") or ROOT.parent / "shared")
    path = folder / "data" / name
    if not path.is_file():
        pytest.skip(f"no {name}: the shared data is not beside the repository (or set GREENROOM_SHARED)")
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
