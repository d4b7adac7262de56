"""A measured speed against its limit: well, worth a warning, or a failure that is asked for twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from greenroom.checks.expectations import Threshold
from greenroom.checks.frame import Looked, found, is_grave
from greenroom.model.results import Finding
from greenroom.model.words import Severity
from greenroom.probes.host import Host

PAUSE_S = 5
"""Own choice: by then clocks and temperatures have settled."""
AGAIN_SHARE = 0.5
"""Part of the load time that the second run gets."""


def grade(threshold: Threshold, value: float, *, code: str, subject: str, what: str) -> Finding | None:
    """A finding if ``value`` is past the threshold, in its unit; a suspicion if only past its warning.

    A threshold whose name ends in ``_min`` is a least value, any other a most. What nobody expects is well.
    """
    low, limit, warn, unit = threshold.name.endswith("_min"), threshold.value, threshold.warn, threshold.unit
    if not isinstance(limit, (int, float)):
        return None
    short = value < limit if low else value > limit
    near = isinstance(warn, (int, float)) and (value < warn if low else value > warn)
    if not short and not near:
        return None
    asked = f"at {'least' if low else 'most'} {limit if short else warn} {unit}"
    finding = found(
        code,
        subject=subject,
        message=f"{what}: {value:.4g} {unit}, expected {asked}",
        measured=f"{value:.4g} {unit}",
        threshold=threshold,
    )
    return replace(finding, severity=Severity.FAIL if short else Severity.SUSPECT)


def twice(measure: Callable[[float], Looked], *, load_s: float, host: Host, sure: set[str]) -> Looked:
    """Measure; what is too slow is measured again after a pause, and fails only if it is so twice.

    ``sure``: codes that once is enough for: wrong data are wrong. What the second run clears stays as a
    suspicion, for it was seen.
    """
    first = measure(load_s)
    doubted = [one for one in first.findings if is_grave(one) and one.code not in sure]
    if not doubted or any(one.code in sure for one in first.findings):
        return first
    for _ in range(PAUSE_S):
        host.wait(1.0)
    second = measure(load_s * AGAIN_SHARE)
    again = {_about(one): one for one in second.findings}
    findings = []
    for one in first.findings:
        repeated = again.pop(_about(one), None)
        if one not in doubted or (repeated and is_grave(repeated)):
            findings.append(replace(one, message=f"{one.message}, twice") if one in doubted else one)
        else:
            said = f"{one.message}; {PAUSE_S} s later: {repeated.measured if repeated else 'well'}"
            findings.append(replace(one, message=said, severity=Severity.SUSPECT))
    findings += [
        one if one.code in sure else replace(one, severity=Severity.SUSPECT) for one in again.values()
    ]
    return Looked(looked={**first.looked, "second_run": second.looked}, findings=tuple(findings))


def _about(finding: Finding) -> tuple[str, str, str]:
    """What it is about: the same thing measured twice has other figures."""
    return finding.code, finding.subject, finding.message.partition(":")[0]
