"""Sightings -> incidents: what a person should know of, once each, with its reason.

``fold`` for the texts of one node, ``blame`` for what several nodes tell at once. Both are pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from greenroom.faults import Fault
from greenroom.model.sightings import Incident, Scope, Sighting
from greenroom.model.words import Rung, Severity
from greenroom.policy.blame import Blame, blame
from greenroom.policy.combine import combine
from greenroom.policy.troubles import Trouble, gather

__all__ = ["Blame", "blame", "fold"]

MAX_EVIDENCE = 5
MANY_BURSTS = 3
"""Bursts of a program's fault on one GPU alone within a day from which the GPU is a suspect. NVSentinel
takes 2; a program that is started twice makes two."""
REPEATED = ("gpu.xid.13", "gpu.xid.31", "gpu.xid.43")
MANY_CORRECTED = 100
"""mcelog's default: 100 corrected errors of a module in 24 h are too many (mcelog.conf)."""
SOME_CORRECTED = 10
MANY_LOSSES = 3
"""Times within a day from which a link that goes down counts as flapping; once or twice is a start."""


def fold(
    sightings: Iterable[Sighting], faults: Mapping[str, Fault], *, driver_branch: int = 0
) -> list[Incident]:
    """One incident for each trouble, in the order in which they begin in the text.

    Every sighting lands in exactly one incident: the sum of ``detail["lines"]`` is their number.
    ``count`` is the number of events: several lines of one report are one, follow-ups count for none.
    ``driver_branch`` (575 of 575.57.08) chooses between forms that changed; 0: not known, try both.
    """
    troubles = combine(gather(sightings, faults, driver_branch))
    by_code: dict[str, list[Trouble]] = defaultdict(list)
    for trouble in troubles:
        by_code[trouble.code].append(trouble)
    for trouble in troubles:
        _weigh_repetition(trouble, by_code[trouble.code])
        _weigh_corrected(trouble)
        _weigh_links(trouble)
    return [_incident(trouble) for trouble in troubles]


def _weigh_repetition(trouble: Trouble, same: list[Trouble]) -> None:
    """A program's fault is the chip's, when it comes back on one unit of one GPU and nowhere else."""
    if trouble.code not in REPEATED or trouble.verdict or trouble.severity is not Severity.NOTE:
        return
    if len({other.device for other in same}) > 1:
        trouble.notes.append("several GPUs report the same: the program")
    elif len(trouble.units) > 1:
        trouble.notes.append("several units of the GPU report the same: the program")
    elif trouble.bursts >= MANY_BURSTS:
        trouble.severity, trouble.remedy, trouble.scope = Severity.SUSPECT, Rung.PERSON, Scope.GPU
        unit = "on one unit of one GPU" if trouble.units else "on one GPU"
        trouble.notes.append(f"{trouble.bursts} times {unit} within a day: run a diagnostic of the GPU")


def _weigh_corrected(trouble: Trouble) -> None:
    if trouble.code != "host.edac.ce":
        return
    overflow = any("OVERFLOW" in sighting.evidence for sighting in trouble.sightings)
    if trouble.count >= MANY_CORRECTED:
        trouble.severity, trouble.remedy = Severity.FAIL, Rung.REPLACE
        trouble.notes.append(f"{trouble.count} errors; mcelog's limit is {MANY_CORRECTED} a day")
    elif trouble.count >= SOME_CORRECTED or overflow:
        trouble.remedy = Rung.REPLACE
        trouble.notes.append(f"{trouble.count} errors{' or more' if overflow else ''}: plan a replacement")


def _weigh_links(trouble: Trouble) -> None:
    hardware = any(reading.detail.get("hardware") for reading in trouble.readings)
    if trouble.code == "gpu.xid.74" and hardware and trouble.bursts > 1 and not trouble.verdict:
        trouble.remedy = Rung.VENDOR
        trouble.notes.append(f"it came back {trouble.bursts} times: hardware")
    if trouble.code == "nic.link.lost" and trouble.bursts >= MANY_LOSSES:
        trouble.severity = Severity.SUSPECT
        trouble.notes.append(f"{trouble.bursts} times within a day: cable, optics or the far end")
    if trouble.code == "gpu.xid.45" and not trouble.followers and not trouble.notes:
        trouble.notes.append("nothing else went before it here; with NVSwitch look at the fabric manager")


def _incident(trouble: Trouble) -> Incident:
    first, last = trouble.sightings[0], trouble.sightings[-1]
    return Incident(
        device=trouble.device,
        code=trouble.code,
        scope=trouble.scope,
        severity=trouble.severity,
        remedy=trouble.remedy,
        count=trouble.count,
        first=first.when,
        last=last.when,
        evidence=_evidence(trouble),
        reason="; ".join(part for part in (trouble.fault.meaning, trouble.why, *trouble.notes) if part),
        source=trouble.fault.source,
        detail=_detail(trouble),
    )


def _evidence(trouble: Trouble) -> tuple[str, ...]:
    """Its own first lines, then one of each follower."""
    own = [sighting.evidence for sighting in trouble.sightings]
    others = [one.sightings[0].evidence for one in trouble.followers]
    lines = [*own[: MAX_EVIDENCE - min(2, len(others))], *others, *own]
    return tuple(dict.fromkeys(line for line in lines if line))[:MAX_EVIDENCE]


def _detail(trouble: Trouble) -> dict[str, object]:
    detail: dict[str, object] = {}
    for sighting, reading in zip(trouble.sightings, trouble.readings, strict=True):
        for name, value in {**sighting.detail, **reading.detail}.items():
            detail.setdefault(name, value)
    detail["lines"] = trouble.lines
    if trouble.bursts > 1:
        detail["bursts"] = trouble.bursts
    if trouble.links:
        detail["links"] = sorted(trouble.links)
    if trouble.verdict:
        detail["recovery"] = trouble.verdict
    if trouble.followers:
        detail["followers"] = _followers(trouble)
    if trouble.start is not None:
        detail["at"] = trouble.start
    return detail


def _followers(trouble: Trouble) -> dict[str, int]:
    """Code of what was folded into it -> number of lines."""
    lines: dict[str, int] = defaultdict(int)
    for one in trouble.followers:
        lines[one.code] += len(one.sightings)
        for code, number in _followers(one).items():
            lines[code] += number
    return dict(sorted(lines.items()))
