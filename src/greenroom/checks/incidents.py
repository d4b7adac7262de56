"""From what a parser saw to findings: one for each incident, as the fault catalogue judges it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from greenroom.checks.frame import MAX_EVIDENCE
from greenroom.faults import load, lookup
from greenroom.model.results import Finding
from greenroom.model.sightings import Incident, Sighting


def findings_of(
    sightings: Iterable[Sighting],
    *,
    source: str,
    names: Mapping[str, str] | None = None,
    driver_version: str = "",
) -> tuple[Finding, ...]:
    """``source`` says where it was seen; ``names``: device as the parser has it -> subject of the finding."""
    from greenroom.policy.incidents import fold  # noqa: PLC0415 - 25 ms that a healthy node is spared

    branch = driver_version.partition(".")[0]
    incidents = fold(sightings, load(), driver_branch=int(branch) if branch.isdecimal() else 0)
    return tuple(
        finding_of(one, source, (names or {}).get(one.device, one.device))
        for one in incidents
        # the driver saying that a recovery is over is good news
        if one.code != "gpu.xid.154" or one.detail.get("recovery") != "none"
    )


def finding_of(incident: Incident, source: str, subject: str) -> Finding:
    """The finding of one incident. The catalogue's own remedy is left out: a site's file may name another."""
    own = incident.remedy is not lookup(incident.code).remedy
    times = f", {incident.count} times" if incident.count > 1 else ""
    return Finding(
        code=incident.code,
        subject=subject or "machine",
        message=f"{source}{times}: {incident.reason}",
        severity=incident.severity,
        measured=str(incident.count),
        source=incident.source,
        evidence=incident.evidence[:MAX_EVIDENCE],
        remedy=incident.remedy if own else None,
    )
