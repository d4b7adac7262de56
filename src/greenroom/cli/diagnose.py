"""`greenroom diagnose`: what a pasted log or a tool's output means."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

import click
from rich.text import Text

from greenroom.cli.session import json_option, print_json
from greenroom.cli.site_faults import faults_option
from greenroom.cli.sources import Source, open_sources
from greenroom.cli.tables import plain, table
from greenroom.faults import load
from greenroom.model.sightings import Incident, Sighting
from greenroom.model.words import Exit, Severity
from greenroom.parsers import bug_report, kernel_text
from greenroom.parsers.driver_version import find_branch
from greenroom.parsers.hostlist import compress, is_name
from greenroom.parsers.registry import all_parsers, read_all, recognise
from greenroom.policy.incidents import fold

SCHEMA = 1
MAX_PUZZLES = 200
MAX_DEVICES = 8
WEIGHT = {Severity.FAIL: 0, Severity.SUSPECT: 1, Severity.NOTE: 2}
COLOURS = {Severity.FAIL: "red", Severity.SUSPECT: "yellow", Severity.NOTE: "dim"}


@click.command()
@click.argument("source", default="-")
@click.option("--kind", default="auto", show_default=True, help="What it is; see --kind list.")
@faults_option
@json_option
def command(source: str, kind: str, as_json: bool) -> int:
    """Read SOURCE - a file, a folder or tar of files, or - for standard input - and say what it means.

    Exit code 0: nothing grave; 1: something is; 3: nothing in it tells either way.
    """
    if kind == "list":
        print(*all_parsers(), sep="\n")
        return 0
    if kind != "auto" and kind not in all_parsers():
        raise click.UsageError(f"--kind {kind!r}: expected auto or one of {', '.join(all_parsers())}")
    told = _Told()
    try:
        for one in open_sources(source):
            told.take(one, kind)
    except (OSError, tarfile.TarError, EOFError) as error:
        raise click.UsageError(f"{source}: {error}") from error
    kinds, puzzles = sorted(told.kinds), told.puzzles[:MAX_PUZZLES]
    incidents = told.incidents()
    if as_json:
        print_json({"schema": SCHEMA, "kinds": kinds, "incidents": incidents, "not_understood": puzzles})
    else:
        _show(incidents, puzzles, kinds, told.healthy)
    if any(one.severity is Severity.FAIL for one in incidents):
        return Exit.UNFIT
    return Exit.FIT if incidents or told.healthy else Exit.UNDECIDED


def _host(incident: Incident) -> str:
    return str(incident.detail.get("host") or "")


def _alike(incidents: list[Incident]) -> list[list[Incident]]:
    """Those that differ by nothing but their device, together: a table of sixty drained nodes is one line."""
    groups: dict[tuple[object, ...], list[Incident]] = {}
    for one in incidents:
        groups.setdefault((_host(one), one.code, one.severity, one.count, one.first, one.reason), []).append(
            one
        )
    return list(groups.values())


def _devices(alike: list[Incident]) -> str:
    devices = list(dict.fromkeys(one.device or "-" for one in alike))
    if len(devices) > MAX_DEVICES and all(is_name(device) for device in devices):
        return f"{compress(devices)} ({len(devices)})"
    more = f", and {len(devices) - MAX_DEVICES} more" if len(devices) > MAX_DEVICES else ""
    return ", ".join(devices[:MAX_DEVICES]) + more


def _show(incidents: list[Incident], puzzles: list[str], kinds: list[str], healthy: int) -> None:
    hosts = len({_host(one) for one in incidents} - {""}) > 1
    rows = [
        (
            *([_host(ones[0]) or "-"] if hosts else []),
            _devices(ones),
            one.code,
            one.scope.value,
            Text(one.severity.value, style=COLOURS[one.severity]),
            one.remedy.value if one.severity is not Severity.NOTE else "-",
            str(one.count),
            one.first,
            one.reason,
        )
        for ones in _alike(incidents)
        for one in ones[:1]
    ]
    empty = (
        f"nothing wrong is told by {', '.join(kinds)} ({healthy} things looked at)"
        if kinds and healthy
        else f"{', '.join(kinds)}: nothing in it tells whether something is wrong"
        if kinds
        else "not understood"
    )
    table(
        *(["HOST"] if hosts else []),
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
        print(f"not understood: {plain(puzzle)}")


@dataclass(slots=True)
class _Told:
    """What all the texts tell."""

    sightings: list[Sighting] = field(default_factory=list)
    puzzles: list[str] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)
    healthy: int = 0
    branch: int = 0
    """Of NVIDIA's driver, where a text names it."""

    def take(self, source: Source, kind: str) -> None:
        """Read one text. A kernel's log is read in blocks, however long it is; anything else as a whole."""
        blocks = self._watched(source.blocks())
        first = next(blocks, "")
        second = next(blocks, "")
        known = kind if kind != "auto" or not second else recognise(first) or kernel_text.KIND
        if second and known == kernel_text.KIND and not bug_report.split(first):
            readings = [kernel_text.read_blocks(chain((first, second), blocks))]
        else:
            readings = read_all("".join((first, second, *blocks)), kind)
        for reading in readings:
            self.sightings += reading.sightings
            name = f"{source.name}: " if source.name else ""
            self.puzzles += [f"{name}{one}" for one in reading.not_understood]
            self.kinds |= {reading.kind} - {""}
            self.healthy += reading.healthy

    def _watched(self, blocks: Iterator[str]) -> Iterator[str]:
        for block in blocks:
            self.branch = self.branch or find_branch(block)
            yield block

    def incidents(self) -> list[Incident]:
        """The gravest first. What several hosts tell is not one trouble."""
        hosts: dict[str, list[Sighting]] = {}
        for one in self.sightings:
            hosts.setdefault(str(one.detail.get("host") or ""), []).append(one)
        if len(hosts) == 2 and "" in hosts:  # one host, and lines that do not say: a paste of one node
            hosts = {"": self.sightings}
        found = [one for group in hosts.values() for one in fold(group, load(), driver_branch=self.branch)]
        return sorted(found, key=lambda one: WEIGHT[one.severity])
