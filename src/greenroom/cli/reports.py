"""Reports of many nodes: from files, folders and recordings, or from the controller's store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from greenroom.checks.frame import load_all
from greenroom.cli.session import session
from greenroom.model.jsonish import Unreadable, from_json
from greenroom.model.results import CheckResult, Report
from greenroom.probes.recording import FILE, ReplayHost, load
from greenroom.runner.run import Wish, run_checks

LOOK_BACK = 20
"""Runs of a node among which its last report of use is looked for."""


def of_files(paths: Sequence[Path]) -> list[Report]:
    """Reports of `greenroom check --json` (a file each, several in one, a folder of them) and recordings.

    The last report of a node counts.

    Raises:
        click.UsageError: a file is no report; the text names it and what was expected.
    """
    found: dict[str, Report] = {}
    for report in sorted((one for path in paths for one in _read(path)), key=lambda one: one.started_at):
        found[report.node] = report
    return sorted(found.values(), key=lambda one: one.node)


def of_store(config: Path, useful: Callable[[CheckResult], bool]) -> list[Report]:
    """The last report of every node that has a useful result, from the controller's store."""
    reports = []
    with session(config) as opened:
        for state in opened.store.states():
            for row in opened.store.runs(state.node, LOOK_BACK):
                run = opened.store.run(row.run_id)
                if run and run.report:
                    report = from_json(Report, run.report)
                    if any(useful(result) for result in report.results):
                        reports.append(report)
                        break
    return reports


def has_looked(check: str) -> Callable[[CheckResult], bool]:
    """Whether a result is that check's, and it saw something."""
    return lambda result: result.check == check and bool(result.looked)


def looked_of(report: Report, check: str) -> dict[str, Any]:
    """What a check saw, empty if it did not look."""
    return next((result.looked for result in report.results if result.check == check), {})


def _read(path: Path) -> Iterator[Report]:
    if (path / FILE).is_file() or path.name == FILE:
        yield _replay(path if path.is_dir() else path.parent)
    elif path.is_dir():
        inside = [one for one in sorted(path.iterdir()) if one.suffix == ".json" or (one / FILE).is_file()]
        if not inside:
            raise click.UsageError(f"{path}: no reports (*.json) and no recordings in this folder")
        for one in inside:
            yield from _read(one)
    else:
        yield from _parse(path)


def _parse(path: Path) -> Iterator[Report]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{path}: {error}") from error
    decoder, at, count = json.JSONDecoder(), 0, 0
    while at < len(text.rstrip()):
        try:
            data, at = decoder.raw_decode(text, len(text) - len(text[at:].lstrip()))
            for one in data if isinstance(data, list) else [data]:
                count += 1
                yield from_json(Report, one)
        except (ValueError, Unreadable) as error:
            raise click.UsageError(
                f"{path}: report {count or 1}: {error}; expected what `greenroom check --json` prints"
            ) from error
    if not count:
        raise click.UsageError(f"{path}: empty; expected what `greenroom check --json` prints")


def _replay(folder: Path) -> Report:
    try:
        host = ReplayHost(load(folder))
    except ValueError as error:
        raise click.UsageError(f"{folder}: {error}") from error
    quiet = [check.name for check in load_all().values() if not check.load_share]
    return run_checks(Wish(node=folder.name, profile="light", only=quiet), host)
