"""Sightings -> incidents: one trouble of one device is one incident, judged by the catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from greenroom.faults import Fault, lookup
from greenroom.model.sightings import Incident, Sighting
from greenroom.model.words import Severity

MAX_EVIDENCE = 5
_WEIGHT = {severity: weight for weight, severity in enumerate(Severity)}


def fold(sightings: Iterable[Sighting], faults: Mapping[str, Fault]) -> list[Incident]:
    """One incident for each device and code, the gravest first, then in the order of the text."""
    incidents: dict[tuple[str, str], Incident] = {}
    for sighting in sightings:
        key = (sighting.device, sighting.code)
        known = incidents.get(key)
        incidents[key] = _more(known, sighting) if known else _first(sighting, faults)
    return sorted(incidents.values(), key=lambda one: -_WEIGHT[one.severity])


def _first(sighting: Sighting, faults: Mapping[str, Fault]) -> Incident:
    fault = faults.get(sighting.code) or lookup(sighting.code)
    when = sighting.when or (f"{sighting.uptime_s:.3f} s" if sighting.uptime_s is not None else "")
    return Incident(
        device=sighting.device,
        code=sighting.code,
        scope=fault.scope,
        severity=fault.severity,
        remedy=fault.remedy,
        count=sighting.count,
        first=when,
        last=when,
        evidence=(sighting.evidence,) if sighting.evidence else (),
        reason=f"{fault.meaning}; {fault.why}" if fault.why else fault.meaning,
        source=fault.source,
        detail=dict(sighting.detail),
    )


def _more(known: Incident, sighting: Sighting) -> Incident:
    when = sighting.when or (f"{sighting.uptime_s:.3f} s" if sighting.uptime_s is not None else known.last)
    evidence = (*known.evidence, sighting.evidence) if sighting.evidence else known.evidence
    return replace(known, count=known.count + sighting.count, last=when, evidence=evidence[:MAX_EVIDENCE])
