"""From what a run found to the one fault to treat: the gravest first remedy decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from greenroom.faults import Fault, resolve
from greenroom.model.results import Finding
from greenroom.model.words import Rung, Severity

GRAVITY = {rung: weight for weight, rung in enumerate(Rung)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What the node is treated for."""

    code: str
    text: str
    """For people: part, measured, expected."""
    first: Rung


def diagnose(findings: Iterable[Finding], faults: Mapping[str, Fault]) -> Diagnosis:
    """The finding whose first remedy weighs most; between equals, the first found.

    A code the catalogue does not know asks for a person's eye only after a reboot did not help.
    """
    grave = [finding for finding in findings if finding.severity is Severity.FAIL]
    if not grave:
        return Diagnosis(code="unknown", text="unfit without a finding", first=Rung.PERSON)

    worst = max(grave, key=lambda finding: GRAVITY[_first(finding, faults)])
    more = f" (and {len(grave) - 1} more)" if len(grave) > 1 else ""
    text = f"{worst.code} on {worst.subject}: {worst.message}{more}"
    return Diagnosis(code=worst.code, text=text, first=_first(worst, faults))


def _first(finding: Finding, faults: Mapping[str, Fault]) -> Rung:
    return finding.remedy or remedy_of(finding.code, faults)


def remedy_of(code: str, faults: Mapping[str, Fault]) -> Rung:
    """First remedy of a fault code; an unknown code gets a reboot, the lightest that forgets software."""
    return resolve(code, faults).remedy
