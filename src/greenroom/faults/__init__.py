"""What a finding means: code -> meaning, part, severity, first remedy, source. Fault knowledge lives here."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from greenroom.model.words import Rung, Severity

CATALOGUE = Path(__file__).with_name("catalogue.toml")


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


@cache
def load() -> Mapping[str, Fault]:
    """The catalogue by code. Its file is part of the package: a mistake in it is our bug and raises."""
    rows = tomllib.loads(CATALOGUE.read_text(encoding="utf-8"))
    return MappingProxyType({code: _fault(code, row) for code, row in sorted(rows.items())})


def lookup(code: str) -> Fault:
    """The fault called ``code``; for one nobody wrote down a generic suspect."""
    return load().get(code) or Fault(
        code=code,
        meaning="a fault that the catalogue does not know yet",
        part=code.split(".", 1)[0],
        severity=Severity.SUSPECT,
        remedy=Rung.REBOOT,
        source="not in the catalogue",
    )


def _fault(code: str, row: Mapping[str, str]) -> Fault:
    return Fault(
        code=code,
        meaning=row["meaning"],
        part=row["part"],
        severity=Severity(row["severity"]),
        remedy=Rung(row["remedy"]),
        source=row["source"],
    )
