"""Which troubles belong together: rules of NVIDIA's catalogue and of the field, each with its source.

The lists are in docs/decisions/0008-fault-catalogue.md; all work on bursts that lie near each other.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from greenroom.model.sightings import Scope
from greenroom.model.words import Rung, Severity
from greenroom.policy.troubles import BURST_S, Trouble
from greenroom.policy.xid_rules import VERDICTS, xid_of

DAY_S = 86_400.0
_AMD_EVENT = re.compile(r"amdgpu [0-9a-f:.]{7,16}: (?:amdgpu: )?\{(\d{1,9})\}")
LOST = ("gpu.xid.79", "gpu.lost", "nvml.15", "dcgm.120")
MEMORY = tuple(f"gpu.xid.{xid}" for xid in (64, 95, 140, 48, 94, 63, 171, 172))
"""One memory trouble, the code that names it first."""
GSP = ("gpu.xid.120", "gpu.xid.119", "gpu.gsp")
PAIRS = {
    "gpu.xid.162": "gpu.xid.163",
    "nvswitch.sxid.10005": "nvswitch.sxid.10004",
    "gpu.amd.reset.succeeded": "gpu.amd.reset",
}
"""Code that ends something -> code that began it."""
AFTER_LOSS = (45, 46, 62, 74, 109, 110, 119, 120, 136, 143, 158, 167, *range(144, 151))
APP_FAULTS = (13, 31, 32, 69, 11, 25)
LINK_DOWN = (74, 155, *range(144, 151))
RECOVERIES = frozenset(code for code, _ in VERDICTS.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Follow:
    """One rule: a trouble that ``follows`` belongs to one that ``leads``, on the same device and near it."""

    follows: tuple[str, ...]
    leads: tuple[str, ...]
    """Empty: whatever else is there."""
    why: str

    def fits(self, follower: Trouble, leader: Trouble) -> bool:
        """Whether the one belongs to the other by their codes."""
        return (
            leader.code not in RECOVERIES
            and leader.code != follower.code
            and _is(follower.code, self.follows)
            and (not self.leads or _is(leader.code, self.leads))
        )


def _xids(*numbers: int) -> tuple[str, ...]:
    return tuple(f"gpu.xid.{number}" for number in numbers)


FOLLOWS = (
    Follow(follows=(*_xids(*AFTER_LOSS), *LOST[1:], "nvml.999", "gpu.gsp"), leads=LOST[:1],
           why="follows from the GPU's fall off the bus"),
    Follow(follows=GSP[1:], leads=GSP[:1], why="the same halt of the system processor"),
    Follow(follows=GSP[2:], leads=(*GSP[:2], "gpu.xid.62"), why="the same halt, before its Xid"),
    *(Follow(follows=MEMORY[at + 1 :], leads=(code,), why="the same memory error")
      for at, code in enumerate(MEMORY[:-3])),
    Follow(follows=_xids(171, 172), leads=_xids(63), why="tells where the memory broke"),
    Follow(follows=_xids(137), leads=_xids(*LINK_DOWN), why="reached for a link that had gone down"),
    Follow(follows=_xids(43), leads=_xids(*APP_FAULTS), why="the program's channel is taken down"),
    Follow(follows=_xids(159), leads=(), why="follows from another error"),
    Follow(follows=_xids(45), leads=("gpu.",), why="channels are taken down after another error"),
    Follow(follows=("gpu.amd.aca",), leads=("gpu.amd.",), why="detail of the error before it"),
)  # fmt: skip
"""In the order in which they are tried."""


def combine(troubles: list[Trouble]) -> list[Trouble]:
    """Followers under what they follow, verdicts onto what they are about, pairs closed, bursts merged."""
    by_device: dict[str, list[Trouble]] = defaultdict(list)
    for trouble in troubles:
        by_device[trouble.device].append(trouble)
    left = [one for group in by_device.values() for one in _fold_followers(group)]
    left = _fold_hives(_fold_named_causes(left, troubles))
    merged = [one for group in _regroup(left) for one in _merge(group)]
    return sorted(merged, key=lambda one: one.order)


class _Near:
    """Troubles of a device by time, so that a flood is not compared with itself."""

    def __init__(self, troubles: Iterable[Trouble]) -> None:
        self.slots: dict[int, list[Trouble]] = defaultdict(list)
        self.untimed: dict[str, Trouble] = {}
        self.all: list[Trouble] = []
        for one in troubles:
            self.all.append(one)
            if one.start is None or one.end is None:
                self.untimed.setdefault(one.code, one)
                continue
            for slot in range(_slot(one.start), _slot(one.end) + 1):
                self.slots[slot].append(one)

    def of(self, one: Trouble) -> Iterator[Trouble]:
        """What lies within BURST_S; for a trouble without a time all there is."""
        if one.start is None or one.end is None:
            yield from self.all
            return
        yield from self.untimed.values()
        seen: set[int] = set()
        for slot in range(_slot(one.start) - 1, _slot(one.end) + 2):
            for other in self.slots.get(slot, ()):
                if id(other) not in seen and _gap(one, other) <= BURST_S:
                    seen.add(id(other))
                    yield other


def _fold_followers(group: list[Trouble]) -> list[Trouble]:
    if len({one.code for one in group}) == 1:
        return group
    gone: set[int] = set()
    for rule in FOLLOWS:
        leaders = [one for one in group if id(one) not in gone and _may_lead(one, rule)]
        if not leaders:
            continue
        near = _Near(leaders)
        for one in group:
            if id(one) in gone or not _is(one.code, rule.follows):
                continue
            fitting = [other for other in near.of(one) if id(other) not in gone and rule.fits(one, other)]
            if fitting:
                _follow(one, max(fitting, key=lambda other: (other.weight, -other.order)), rule.why)
                gone.add(id(one))
    group = [one for one in group if id(one) not in gone]
    return _apply_verdicts(group)


def _may_lead(one: Trouble, rule: Follow) -> bool:
    return one.code not in RECOVERIES and (not rule.leads or _is(one.code, rule.leads))


def _follow(one: Trouble, leader: Trouble, why: str) -> None:
    leader.followers.append(one)
    note = f"with {one.code} ({why})"
    if note not in leader.notes:
        leader.notes.append(note)
    if leader.code in MEMORY and one.code == "gpu.xid.63" and leader.severity is not Severity.FAIL:
        leader.remedy = Rung.RESET_GPU
        leader.notes.append("a memory row waits to be replaced: reset at the next idle moment")
    if one.code == "gpu.xid.63" and leader.code == "gpu.xid.48":
        leader.notes.append("drain, then reset: the broken row is replaced then")


def _apply_verdicts(group: list[Trouble]) -> list[Trouble]:
    """Each verdict onto the gravest trouble near it, else onto the last one that had a verdict."""
    verdicts = [one for one in group if one.verdict]
    if not verdicts:
        return group
    near = _Near(one for one in group if not one.verdict and not _is(one.code, _xids(43, 45)))
    gone: set[int] = set()
    last: Trouble | None = None
    for one in verdicts:
        subject = max(near.of(one), key=lambda other: (other.weight, -other.order), default=last)
        if subject is None:
            last = one
            continue
        subject.followers.append(one)
        gone.add(id(one))
        decide(subject, one.verdict, one)
        last = subject
    alone = _Near(one for one in verdicts if id(one) not in gone)
    for one in group:
        leader = next(alone.of(one), None) if _is(one.code, _xids(43, 45)) else None
        if leader:
            _follow(one, leader, "channels are taken down after another error")
            gone.add(id(one))
    return [one for one in group if id(one) not in gone]


def decide(subject: Trouble, verdict: str, spoken: Trouble) -> None:
    """The driver's own verdict outranks the table."""
    if subject.code in RECOVERIES and verdict != "none":
        subject.code, subject.fault = spoken.code, spoken.fault
    subject.verdict = verdict
    subject.notes.append(f"the driver itself {VERDICTS[verdict][1]} (Xid 154): it outranks every table")
    if verdict == "none":
        if subject.severity is Severity.FAIL:
            subject.severity = Severity.SUSPECT
        return
    if subject.code == "gpu.xid.64" and subject.remedy is Rung.REPLACE:
        return  # the reset is needed, and does not bring a spare row back
    subject.severity, subject.remedy = spoken.severity, spoken.remedy
    if subject.scope is Scope.APPLICATION:
        subject.scope = spoken.scope


def _fold_named_causes(left: list[Trouble], everything: list[Trouble]) -> list[Trouble]:
    """A line may name its cause, which struck another GPU: it follows that one."""
    leaders: dict[str, Trouble] = {}
    for one in everything:
        leaders.setdefault(f"gpu.xid.{xid_of(one.code)}", one)
    kept = []
    standing = {id(one) for one in left}
    for one in left:
        cause = next((reading.cause for reading in one.readings if reading.cause), "")
        leader = leaders.get(cause)
        follows = leader is not None and leader is not one and id(leader) in standing
        if leader and follows and _is(one.code, _xids(43, 45)):
            _follow(one, leader, "the line names it as its cause")
        else:
            if cause:
                one.notes.append(f"the line names {cause} as its cause: the sick GPU may be another one")
            kept.append(one)
    return kept


def _fold_hives(left: list[Trouble]) -> list[Trouble]:
    """AMD numbers an event, ``{1}``, on every GPU of a hive: the first that tells it is the broken one."""
    first: dict[str, Trouble] = {}
    kept = []
    for one in left:
        amd = one.code.startswith("gpu.amd.")
        event = _AMD_EVENT.search(one.sightings[0].evidence) if amd else None
        leader = first.setdefault(event[1], one) if event else one
        if leader is one or _gap(leader, one) > BURST_S:
            kept.append(one)
        else:
            _follow(one, leader, f"event {{{event[1] if event else ''}}} of the same hive")
    return kept


def _regroup(troubles: list[Trouble]) -> list[list[Trouble]]:
    groups: dict[tuple[str, str], list[Trouble]] = defaultdict(list)
    for one in troubles:
        groups[one.device, PAIRS.get(one.code, one.code)].append(one)
    return list(groups.values())


def _merge(group: list[Trouble]) -> list[Trouble]:
    """Bursts of one device and code within a day are one incident; what began and ended is one, too."""
    merged: list[Trouble] = []
    for one in sorted(group, key=lambda one: one.order):
        last = merged[-1] if merged else None
        if last is None or _gap(last, one) > DAY_S:
            merged.append(one)
        elif one.code in PAIRS and last.code == PAIRS[one.code]:
            last.take(one)
            last.severity, last.remedy = Severity.NOTE, Rung.PERSON
            last.notes = [_ENDED]
        elif one.code != last.code:  # begun anew after its end
            last.take(one)
            last.code, last.fault, last.why = one.code, one.fault, one.why
            last.severity, last.remedy = one.severity, one.remedy
            last.notes = ["it ended and began again"]
        else:
            again = one.code in PAIRS.values() and last.notes == [_ENDED]
            last.take(one)
            if again:
                last.severity, last.remedy, last.notes = one.severity, one.remedy, ["it began again"]
    return merged


_ENDED = "it began and ended again"


def _slot(at: float) -> int:
    return int(at // BURST_S)


def _gap(one: Trouble, other: Trouble) -> float:
    """Time between the two, s; 0 if they overlap or one has no time."""
    if one.start is None or other.start is None or one.end is None or other.end is None:
        return 0.0
    return max(0.0, one.start - other.end, other.start - one.end)


def _is(code: str, starts: tuple[str, ...]) -> bool:
    return any(
        code == start or code.startswith(f"{start}.") or (start.endswith(".") and code.startswith(start))
        for start in starts
    )
