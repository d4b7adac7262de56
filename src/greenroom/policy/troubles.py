"""Sightings of one device and code that lie close together: one trouble, before troubles are combined."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite

from greenroom.faults import Fault
from greenroom.model.sightings import Scope, Sighting
from greenroom.model.words import Rung, Severity
from greenroom.policy.xid_rules import WEIGHT, Reading, judge, links_of

BURST_S = 60.0
"""Lines no further apart are one burst: the follow-ups of one event come within seconds."""
EXCEPTION_BURST_S = 15.0
"""The same for Xid 13, as NVSentinel has it (its rules of 2026-08)."""
SAME_EVENT_S = 1.0
"""Lines of one report that takes several lines."""
_GPC_TPC = re.compile(r"\bGPC (\d{1,3}), TPC (\d{1,3})\b")
MANY_LINES = ("gpu.xid.13", "gpu.xid.45")
"""Codes that print several lines for one event."""


@dataclass(slots=True)
class Trouble:
    """A burst, and what was found to belong to it."""

    device: str
    code: str
    fault: Fault
    severity: Severity
    remedy: Rung
    scope: Scope
    why: str
    order: int
    """Position of its first sighting in the text."""
    start: float | None = None
    end: float | None = None
    readings: list[Reading] = field(default_factory=list)
    sightings: list[Sighting] = field(default_factory=list)
    count: int = 0
    bursts: int = 1
    links: list[int] = field(default_factory=list)
    units: set[tuple[int, ...]] = field(default_factory=set)
    """GPC and TPC of Xid 13."""
    followers: list[Trouble] = field(default_factory=list)
    verdict: str = ""
    notes: list[str] = field(default_factory=list)
    """What the combination rules add to the reason."""

    @property
    def weight(self) -> tuple[int, int]:
        """How grave it is, for picking one of several: severity, then the remedy."""
        return WEIGHT[self.severity], list(Rung).index(self.remedy)

    @property
    def lines(self) -> int:
        """Sightings folded into it, followers and all: each sighting is counted once over all incidents."""
        return len(self.sightings) + sum(one.lines for one in self.followers)

    def take(self, other: Trouble) -> None:
        """Take in a later burst of the same device and code."""
        self.readings += other.readings
        self.sightings += other.sightings
        self.count += other.count
        self.bursts += other.bursts
        self.links += [link for link in other.links if link not in self.links]
        self.units |= other.units
        self.followers += other.followers
        self.notes += [note for note in other.notes if note not in self.notes]
        self.verdict = other.verdict or self.verdict
        self.end = other.end if other.end is not None else self.end
        if other.weight > self.weight:
            self.severity, self.remedy, self.scope = other.severity, other.remedy, other.scope
            self.why = other.why


def gather(sightings: Iterable[Sighting], faults: Mapping[str, Fault], driver_branch: int) -> list[Trouble]:
    """The bursts, in the order in which they begin."""
    seen = list(sightings)
    times = list(_times(seen))
    open_: dict[tuple[str, str], Trouble] = {}
    troubles: list[Trouble] = []
    for order, (sighting, at) in enumerate(zip(seen, times, strict=True)):
        reading = judge(sighting, faults, driver_branch)
        key = (sighting.device, reading.code)
        trouble = open_.get(key)
        # Verdicts of the driver stay single: which of them is the last is what counts.
        if trouble is None or reading.verdict or _apart(trouble, at):
            trouble = _begin(sighting, reading, order, at)
            open_[key] = trouble
            troubles.append(trouble)
        _add(trouble, sighting, reading, at)
    for trouble in troubles:
        _settle(trouble)
    return troubles


def _times(sightings: list[Sighting]) -> Iterator[float | None]:
    # One clock for the whole text: the one that more lines carry. Two clocks cannot be compared.
    dated = sum(1 for one in sightings if one.at is not None)
    uptimes = sum(1 for one in sightings if one.uptime_s is not None)
    for one in sightings:
        at = one.at if dated >= uptimes else one.uptime_s
        yield at if at is not None and isfinite(at) else None


def _apart(trouble: Trouble, at: float | None) -> bool:
    gap = EXCEPTION_BURST_S if trouble.code == "gpu.xid.13" else BURST_S
    return at is not None and trouble.end is not None and abs(at - trouble.end) > gap


def _begin(sighting: Sighting, reading: Reading, order: int, at: float | None) -> Trouble:
    return Trouble(
        device=sighting.device,
        code=reading.code,
        fault=reading.fault,
        severity=reading.severity,
        remedy=reading.remedy,
        scope=reading.scope,
        why=reading.why,
        order=order,
        start=at,
    )


def _add(trouble: Trouble, sighting: Sighting, reading: Reading, at: float | None) -> None:
    same_event = bool(trouble.sightings) and _same_event(trouble, at)
    trouble.count += 0 if same_event else max(1, sighting.count)
    trouble.readings.append(reading)
    trouble.sightings.append(sighting)
    trouble.links += [link for link in links_of(sighting) if link not in trouble.links]
    if unit := _unit(sighting):
        trouble.units.add(unit)
    trouble.verdict = reading.verdict or trouble.verdict
    if at is not None:
        trouble.start = at if trouble.start is None else min(trouble.start, at)
        trouble.end = at if trouble.end is None else max(trouble.end, at)


def _same_event(trouble: Trouble, at: float | None) -> bool:
    near = at is None or trouble.end is None or abs(at - trouble.end) <= SAME_EVENT_S
    return trouble.code in MANY_LINES and near


def _unit(sighting: Sighting) -> tuple[int, ...]:
    unit = sighting.detail.get("unit")
    unit = unit if isinstance(unit, dict) else sighting.detail
    values = tuple(value for name in ("gpc", "tpc") if isinstance(value := unit.get(name), int))
    if not values and sighting.code == "gpu.xid.13" and (found := _GPC_TPC.search(sighting.evidence)):
        values = (int(found[1]), int(found[2]))
    return values


def _settle(trouble: Trouble) -> None:
    """Judge the burst by its gravest line; lines in which the driver calls it fatal or not outrank others."""
    told = [reading for reading in trouble.readings if "fatal" in reading.detail] or trouble.readings
    if trouble.code.startswith("nvswitch.sxid."):
        trouble.count = len(told)  # the lines Severity and Data of the same report carry no such word
    worst = max(told, key=lambda one: (WEIGHT[one.severity], list(Rung).index(one.remedy)))
    trouble.severity, trouble.remedy, trouble.scope = worst.severity, worst.remedy, worst.scope
    trouble.why, trouble.fault = worst.why, worst.fault
    if verdicts := [one for one in trouble.readings if one.verdict]:
        last = verdicts[-1]  # a later verdict replaces an earlier one, whatever the numbers
        trouble.verdict, trouble.why = last.verdict, last.why
