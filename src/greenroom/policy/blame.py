"""One job that crashes on many nodes is the job's trouble, not the nodes'."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from greenroom.model.sightings import Incident, Scope
from greenroom.model.words import Rung, Severity

STORM_NODES = 3
"""Nodes of one job with the same trouble from which the job is to blame; all of them, if it has two."""
STORM_S = 600.0
"""How far apart the nodes of one crash may tell it: a job's end takes its time (NVSentinel issue 1629
had 77 nodes within minutes)."""
ALSO = ("gpu.xid.109", "gpu.xid.8", "gpu.amd.ring_timeout")
"""Codes of scope gpu that a program can bring about on all its nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """Incidents sorted by who is to blame."""

    nodes: Mapping[str, tuple[Incident, ...]]
    """What is left for each node; every node that was given is in it."""
    jobs: tuple[Incident, ...]
    """One for each job and code: device ``job:ID``, count = nodes."""


def blame(incidents_by_node: Mapping[str, Sequence[Incident]], jobs: Mapping[str, AbstractSet[str]]) -> Blame:
    """Take from the nodes what their common job did.

    ``jobs``: job id -> its nodes. Broken hardware is never excused: only incidents of scope application,
    and a few that a program can cause.
    """
    taken: set[int] = set()
    found: list[Incident] = []
    for job, nodes in sorted(jobs.items()):
        for code, storm in _storms(incidents_by_node, sorted(nodes), taken):
            hit = sorted({node for node, _ in storm})
            if len(hit) < STORM_NODES and (len(hit) < 2 or len(hit) < len(nodes)):
                continue
            taken |= {id(incident) for _, incident in storm}
            found.append(_of_job(job, code, hit, len(nodes), [incident for _, incident in storm]))
    left = {
        node: tuple(incident for incident in incidents if id(incident) not in taken)
        for node, incidents in incidents_by_node.items()
    }
    return Blame(nodes=left, jobs=tuple(found))


def _storms(
    incidents_by_node: Mapping[str, Sequence[Incident]], nodes: Iterable[str], taken: AbstractSet[int]
) -> Iterator[tuple[str, list[tuple[str, Incident]]]]:
    by_code: dict[str, list[tuple[str, Incident]]] = defaultdict(list)
    for node in nodes:
        for incident in incidents_by_node.get(node, ()):
            if id(incident) not in taken and _excusable(incident):
                by_code[incident.code].append((node, incident))
    for code, seen in sorted(by_code.items()):
        for storm in _together(seen):
            yield code, storm


def _excusable(incident: Incident) -> bool:
    return incident.scope is Scope.APPLICATION or (
        incident.code in ALSO and "recovery" not in incident.detail
    )


def _together(seen: list[tuple[str, Incident]]) -> Iterator[list[tuple[str, Incident]]]:
    """Those within STORM_S of the one before; those without a date belong to the first."""
    dated = sorted((one for one in seen if _at(one[1]) is not None), key=lambda one: _at(one[1]) or 0.0)
    storm = [one for one in seen if _at(one[1]) is None]
    last: float | None = None
    for one in dated:
        at = _at(one[1])
        if last is not None and at is not None and at - last > STORM_S:
            yield storm
            storm = []
        storm.append(one)
        last = at
    if storm:
        yield storm


def _at(incident: Incident) -> float | None:
    at = incident.detail.get("at")
    return float(at) if isinstance(at, int | float) else None


def _of_job(job: str, code: str, hit: list[str], size: int, storm: list[Incident]) -> Incident:
    example = storm[0]
    return Incident(
        device=f"job:{job}",
        code=code,
        scope=Scope.APPLICATION,
        severity=Severity.NOTE,
        remedy=Rung.PERSON,
        count=len(hit),
        first=example.first,
        last=storm[-1].last,
        evidence=example.evidence,
        reason=f"job {job} reported it on {len(hit)} of its {size} nodes at once: the job, not the nodes",
        source=example.source,
        detail={"nodes": hit, "lines": sum(int(one.detail.get("lines", one.count)) for one in storm)},
    )
