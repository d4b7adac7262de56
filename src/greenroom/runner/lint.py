"""Mistakes in files of expectations that can be loaded and yet are not what somebody meant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from greenroom.checks.expectations import ExpectedWrong, Threshold, load_expected, site_files
from greenroom.runner.learning import MIN_NODES


def lint(path: Path) -> list[str]:
    """One line for each mistake of a file, or of the files of a folder, naming file and field."""
    try:
        return [problem for one in site_files(path) for problem in _lint(one)]
    except ExpectedWrong as error:
        return [str(error)]


def _lint(path: Path) -> Iterator[str]:
    before = load_expected().thresholds
    rows = load_expected(site_file=path, match=False).thresholds
    own = [row for name, row in rows.items() if row != before[name]]
    if not own:
        yield f"{path}: says nothing that is not so anyway"
    for row in own:
        for problem in _of_row(row, str(path)):
            yield f"{path}: {row.name}: {problem}"


def _of_row(row: Threshold, path: str) -> Iterator[str]:
    if row.source == path:
        yield "no source: say where the value comes from"
    if row.typical is not None and not row.method:
        yield "a typical value without a method: say how the limit follows from it"
    if row.method and row.nodes < MIN_NODES:
        yield f"learned from {row.nodes} nodes, it takes {MIN_NODES}"
    limit, typical = _number(row.value), _number(row.typical)
    if limit is not None and limit < 0:
        yield f"{limit:g} is below 0"
    if limit is not None and typical is not None:
        too_high = row.name.endswith("_min") and limit > typical
        too_low = row.name.endswith("_max") and limit < typical
        if too_high or too_low:
            yield f"a healthy machine has {typical:g} and would fail at a limit of {limit:g}"


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
