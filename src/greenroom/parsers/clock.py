"""``chronyc -c tracking`` and ``timedatectl show`` -> whether the clock is synchronised, and how far off."""

from __future__ import annotations

from dataclasses import dataclass

_CHRONY_FIELDS = 14
_OFFSET, _LEAP = 4, 13


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockState:
    """What the time service says."""

    synchronised: bool
    offset_s: float | None
    """Distance to the reference, s, signed; None where the tool does not say."""


def parse_chrony(line: str) -> ClockState | None:
    """Of the comma-separated line of chronyc(1); None if it is not one."""
    fields = line.strip().split(",")
    if len(fields) < _CHRONY_FIELDS:
        return None
    try:
        offset_s = float(fields[_OFFSET])
    except ValueError:
        return None
    return ClockState(synchronised=fields[_LEAP] != "Not synchronised", offset_s=offset_s)


def parse_timedatectl(text: str) -> ClockState | None:
    """Of ``timedatectl show`` (KEY=value lines); None if the key is not there."""
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key == "NTPSynchronized":
            return ClockState(synchronised=value.strip() == "yes", offset_s=None)
    return None
