"""What one row of the catalogue holds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from greenroom.model.sightings import Scope
from greenroom.model.words import Rung, Severity

PARTS = ("gpu", "cpu", "memory", "disk", "nic", "host")


class Clears(StrEnum):
    """What ends a fault: after that, evidence from before no longer counts."""

    NONE = "none"
    """It was a moment, nothing stays."""
    READING = "reading"
    """The next reading that is well again."""
    COUNTER = "counter"
    """A counter that stands still: compare two readings."""
    PAIR = "pair"
    """Another event that takes it back."""
    RESET = "reset"
    """A reset of the GPU, or anything heavier."""
    BOOT = "boot"
    """A reboot."""
    PERSON = "person"
    """Hands: a repair or a replacement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What a source says that does not agree with ours."""

    source: str
    says: str


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
    """Where the meaning and the remedy come from; ``site: FILE`` for what a site changed."""
    source_version: str = ""
    scope: Scope = Scope.UNKNOWN
    clears: Clears = Clears.READING
    why: str = ""
    """Why this severity, remedy and scope."""
    architectures: tuple[str, ...] = ()
    """GPU generations it is seen on; empty: any, or no GPU matter."""
    other_sources: tuple[Opinion, ...] = ()
    """Sources that say otherwise."""
    choice: str = ""
    """Why ours was taken, where sources contradict each other."""
    family: str = ""
    """The file of the catalogue that has it; empty: none has."""
    comment: str = ""
    """The site's reason for changing it."""
