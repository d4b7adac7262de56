"""What a finding means: code -> meaning, part, severity, first remedy, source. Fault knowledge lives here.

``catalogue.toml`` has the faults that our own checks and readings find, one table each. ``families/``
has the tables of others (Xid, SXid, DCGM), where a group holds codes that are judged alike.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from greenroom.model.sightings import Scope
from greenroom.model.words import Rung, Severity

HERE = Path(__file__).parent
CATALOGUE, FAMILIES = HERE / "catalogue.toml", HERE / "families"
_SCOPES = {"gpu": Scope.GPU, "nic": Scope.LINK}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One row of the catalogue."""

    code: str
    """Dotted name, from the part to the trouble: ``gpu.row_remap.pending``."""
    meaning: str
    """In our own words, for a person."""
    part: str
    """What would be repaired or replaced: gpu, cpu, memory, disk, nic, host."""
    severity: Severity
    remedy: Rung
    """First remedy to try. Asked for at severity ``fail`` only."""
    source: str
    """Where the meaning and the remedy come from."""
    scope: Scope = Scope.NODE
    """What it touches."""
    clears: str = ""
    """What makes it go away: boot, reset, counter, reading, pair, person, none; empty: not said."""
    why: str = ""
    """Why this severity and remedy."""
    architectures: tuple[str, ...] = ()
    """GPU generations it applies to; empty: any."""
    source_version: str = ""
    other_sources: tuple[str, ...] = ()
    """Who says otherwise, and what."""
    choice: str = ""
    """Why we go by ``source`` all the same, or by none of them."""


@cache
def load() -> Mapping[str, Fault]:
    """The catalogue by code. Its files are part of the package: a mistake in them is our bug and raises."""
    rows = dict(_own())
    for path in sorted(FAMILIES.glob("*.toml")):
        for code, row in _family(_read(path)):
            assert code not in rows, f"{path.name}: {code} stands elsewhere, too"
            rows[code] = row
    return MappingProxyType({code: _fault(code, row) for code, row in sorted(rows.items())})


def lookup(code: str) -> Fault:
    """The fault called ``code``, else the one above it (``ib.errors`` for ``ib.errors.symbol_error``).

    For one that nobody wrote down a generic suspect: checked again, never ignored, never grave.
    """
    name = code
    while name:
        if known := load().get(name):
            return known if name == code else replace(known, code=code)
        name = name.rpartition(".")[0]
    return Fault(
        code=code,
        meaning="a fault that the catalogue does not know yet",
        part=code.split(".", 1)[0],
        severity=Severity.SUSPECT,
        remedy=Rung.REBOOT,
        source="not in the catalogue",
        scope=Scope.UNKNOWN,
    )


def _own() -> Iterator[tuple[str, dict[str, Any]]]:
    yield from _read(CATALOGUE).items()


def _family(table: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each code with what its group and the whole file say of it."""
    groups, single = table.pop("group", []), table.pop("fault", {})
    for group in groups:
        codes: dict[str, str] = group.pop("codes")
        for code, meaning in codes.items():
            yield code, {**table, **group, "meaning": meaning}
    for code, row in single.items():
        yield code, {**table, **row}


def _fault(code: str, row: Mapping[str, Any]) -> Fault:
    known = {one.name for one in fields(Fault)}
    values = {key: value for key, value in row.items() if key in known}
    others = row.get("other_sources", ())
    return Fault(
        **{
            **values,
            "code": code,
            "severity": Severity(row["severity"]),
            "remedy": Rung(row["remedy"]),
            "scope": Scope(row["scope"]) if "scope" in row else _SCOPES.get(row["part"], Scope.NODE),
            "architectures": tuple(row.get("architectures", ())),
            "other_sources": tuple(f"{one['source']}: {one['says']}" for one in others),
        }
    )


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
