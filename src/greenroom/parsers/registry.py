"""Which parser reads a text: every module here with KIND, recognise and read is one.

``recognise(text) -> float`` says how sure it is (0 to 1) that the text is of its kind,
``read(text) -> Reading`` what it says.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Protocol, cast

from greenroom import parsers
from greenroom.model.sightings import Reading
from greenroom.parsers import bug_report, kernel_text

SURE_ENOUGH = 0.3
HEAD_CHARS = 65_536
"""Enough to recognise a text by."""
_BESIDE = ("kernel-log", "app-log", "nvidia-smi")
"""Kinds whose lines stand among those of others in what people paste."""
BESIDE_ENOUGH = 0.5
MAX_BESIDE_CHARS = 1_000_000


class Parser(Protocol):
    """What such a module offers."""

    KIND: str

    def recognise(self, text: str) -> float:
        """How sure it is, 0 to 1."""
        ...

    def read(self, text: str) -> Reading:
        """What the text says. Never raises, whatever the text."""
        ...


@cache
def all_parsers() -> Mapping[str, Parser]:
    """Parsers by kind."""
    found: dict[str, Parser] = {}
    for info in pkgutil.iter_modules(parsers.__path__):
        if info.name == "registry":
            continue
        module = import_module(f"{parsers.__name__}.{info.name}")
        if all(hasattr(module, name) for name in ("KIND", "recognise", "read")):
            found[module.KIND] = cast("Parser", module)
    return MappingProxyType(dict(sorted(found.items())))


def recognise(text: str) -> str:
    """The kind of the text; empty if no parser is sure enough."""
    start = text[:HEAD_CHARS]
    sure, kind = max((parser.recognise(start), kind) for kind, parser in all_parsers().items())
    return kind if sure >= SURE_ENOUGH else ""


def read(text: str, kind: str = "auto") -> Reading:
    """Read a text of a kind, or of whatever kind it is.

    Raises:
        KeyError: no such kind.
    """
    known = recognise(text) if kind == "auto" else kind
    if not known:
        # A log may begin with hours of other things.
        reading = all_parsers()[kernel_text.KIND].read(text)
        first = text.strip()[:200]
        return reading if reading.sightings else Reading(kind="", not_understood=(first,) if first else ())
    reading = all_parsers()[known].read(text)
    return _beside(text, reading) if kind == "auto" else reading


def read_all(text: str, kind: str = "auto") -> list[Reading]:
    """The same for a text that may hold the outputs of several tools, each in a section of its own."""
    sections = bug_report.split(text) if kind == "auto" else []
    if not sections:
        return [read(text, kind)]
    readings = [(before, read(section)) for before, section in sections]
    # most sections are files that no parser is for: that is no puzzle
    return list(bug_report.merge((before, reading) for before, reading in readings if reading.kind))


def _beside(text: str, reading: Reading) -> Reading:
    """What a paste tells beside its main kind: a log line under a table, a message above a log."""
    if reading.kind in _BESIDE or text.lstrip()[:1] in ("{", "[", "<") or len(text) > MAX_BESIDE_CHARS:
        kinds = [kind for kind in _BESIDE if kind != reading.kind] if reading.kind in _BESIDE else []
    else:
        kinds = list(_BESIDE)
    lines = {one.line for one in reading.sightings}
    told = {(one.code, one.device) for one in reading.sightings}
    devices = {one.code for one in reading.sightings}
    more = []
    for kind in kinds if len(text) <= MAX_BESIDE_CHARS else ():
        parser = all_parsers()[kind]
        if parser.recognise(text[:HEAD_CHARS]) < BESIDE_ENOUGH:
            continue
        for one in parser.read(text).sightings:
            if (
                one.line not in lines
                and (one.code, one.device) not in told
                and not (not one.device and one.code in devices)
            ):
                more.append(one)
                lines.add(one.line)
    return replace(reading, sightings=(*reading.sightings, *more)) if more else reading
