"""What a text says about hardware: sightings (one line's worth) and incidents (sightings folded)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from greenroom.model.words import Rung, Severity


class Scope(StrEnum):
    """What an incident touches."""

    APPLICATION = "application"
    GPU = "gpu"
    LINK = "link"
    NODE = "node"
    FABRIC = "fabric"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One thing one place of a text says. Parsers make these and judge nothing."""

    code: str
    """Code of the fault catalogue: ``gpu.xid.79``, ``gpu.ecc.uncorrectable``, ``ib.port.down``."""
    device: str = ""
    """Normalised: ``0000:41:00``, ``gpu:3``, ``mlx5_0/1``, ``nvme0``, ``eth0``; empty: none is named."""
    at: float | None = None
    """Unix s, if the text carries a full date."""
    uptime_s: float | None = None
    """Seconds after the boot, if the text carries that."""
    when: str = ""
    """The time as the text has it."""
    line: int = 0
    """Line of the text, from 1."""
    count: int = 1
    detail: dict[str, Any] = field(default_factory=dict)
    """What else it says: pid, process, unit, sub-code, registers, measured values."""
    evidence: str = ""
    """The raw text, at most 500 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a parser made of a text."""

    kind: str
    """The parser's name: ``kernel-log``, ``dcgmi-diag``, ``ibstat``."""
    sightings: tuple[Sighting, ...] = ()
    healthy: int = 0
    """Things looked at that are as they should be (0 and no sightings: looked at nothing)."""
    not_understood: tuple[str, ...] = ()
    """Lines or fields that looked relevant and were not understood, clipped, at most 20."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """Sightings of one trouble, folded into one and judged by the catalogue."""

    device: str
    code: str
    scope: Scope
    severity: Severity
    remedy: Rung
    count: int
    first: str = ""
    """Time of the first sighting, as text."""
    last: str = ""
    evidence: tuple[str, ...] = ()
    """Raw lines, at most 5."""
    reason: str = ""
    """Why this scope, severity and remedy, for a person."""
    source: str = ""
    detail: dict[str, Any] = field(default_factory=dict)
