"""`greenroom diagnose`: what a pasted log or a tool's output means."""

from __future__ import annotations

import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import click

from greenroom.cli.session import json_option, print_json
from greenroom.cli.tables import table
from greenroom.faults import load
from greenroom.model.sightings import Incident, Sighting
from greenroom.model.words import Exit, Severity
from greenroom.parsers.registry import all_parsers, read
from greenroom.policy.incidents import fold

SCHEMA = 1
MAX_BYTES = 100 * 1024 * 1024
MAX_MEMBERS = 2000
WEIGHT = {Severity.FAIL: 0, Severity.SUSPECT: 1, Severity.NOTE: 2}
COLOURS = {Severity.FAIL: "red", Severity.SUSPECT: "yellow", Severity.NOTE: "dim"}


@click.command()
@click.argument("source", default="-")
@click.option("--kind", default="auto", show_default=True, help="What it is; see --kind list.")
@json_option
def command(source: str, kind: str, as_json: bool) -> int:
    """Read SOURCE - a file, a folder or tar of files, or - for standard input - and say what it means.

    Exit code 0: nothing grave; 1: something is; 3: nothing in it was understood.
    """
    if kind == "list":
        print(*all_parsers(), sep="\n")
        return 0
    if kind != "auto" and kind not in all_parsers():
        raise click.UsageError(f"--kind {kind!r}: expected auto or one of {', '.join(all_parsers())}")
    sightings: list[Sighting] = []
    puzzles: list[str] = []
    kinds: set[str] = set()
    healthy = 0
    for name, text in _texts(source):
        reading = read(text, kind)
        sightings += reading.sightings
        puzzles += [f"{name}: {one}" if name else one for one in reading.not_understood]
        kinds |= {reading.kind} - {""}
        healthy += reading.healthy
    incidents = sorted(fold(sightings, load()), key=lambda one: WEIGHT[one.severity])
    if as_json:
        print_json(
            {"schema": SCHEMA, "kinds": sorted(kinds), "incidents": incidents, "not_understood": puzzles}
        )
    else:
        _show(incidents, puzzles, sorted(kinds), healthy)
    if any(one.severity is Severity.FAIL for one in incidents):
        return Exit.UNFIT
    return Exit.FIT if kinds else Exit.UNDECIDED


def _show(incidents: list[Incident], puzzles: list[str], kinds: list[str], healthy: int) -> None:
    rows = [
        (
            one.device or "-",
            one.code,
            one.scope.value,
            f"[{COLOURS[one.severity]}]{one.severity.value}[/]",
            one.remedy.value if one.severity is not Severity.NOTE else "-",
            str(one.count),
            one.first,
            one.reason,
        )
        for one in incidents
    ]
    empty = (
        f"nothing wrong is told by {', '.join(kinds)} ({healthy} things looked at)"
        if kinds
        else "not understood"
    )
    table(
        "DEVICE",
        "CODE",
        "SCOPE",
        "SEVERITY",
        "FIRST REMEDY",
        "TIMES",
        "FIRST",
        "MEANING",
        rows=rows,
        empty=empty,
    )
    for puzzle in puzzles[:10]:
        print(f"not understood: {puzzle}")


def _texts(source: str) -> Iterator[tuple[str, str]]:
    """(name, text) of everything in the source, within limits."""
    if source == "-":
        yield "", _decoded(sys.stdin.buffer.read(MAX_BYTES))
        return
    path = Path(source)
    try:
        if path.is_dir():
            files = sorted(one for one in path.rglob("*") if one.is_file())[:MAX_MEMBERS]
            for file in files:
                with file.open("rb") as opened:
                    yield str(file.relative_to(path)), _decoded(opened.read(MAX_BYTES))
        elif path.is_file() and tarfile.is_tarfile(path):
            yield from _members(path)
        else:
            with path.open("rb") as opened:
                yield "", _decoded(opened.read(MAX_BYTES))
    except (OSError, tarfile.TarError, EOFError) as error:
        raise click.UsageError(f"{source}: {error}") from error


def _members(path: Path) -> Iterator[tuple[str, str]]:
    """Files of a tar, read in place: nothing is unpacked, so no path can lead astray."""
    left = MAX_BYTES
    with tarfile.open(path) as archive:
        for count, member in enumerate(archive):
            if count >= MAX_MEMBERS or left <= 0:
                return
            file = archive.extractfile(member) if member.isreg() else None
            if file is not None:
                data = file.read(left)
                left -= len(data)
                yield member.name, _decoded(data)


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
