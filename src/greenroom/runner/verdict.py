"""Pure: findings -> outcome of a check, results -> verdict of a run."""

from __future__ import annotations

from collections.abc import Iterable

from greenroom.model.results import CheckResult, Finding
from greenroom.model.words import Outcome, Severity, Stage, Verdict


def outcome_of(findings: Iterable[Finding]) -> Outcome:
    """The gravest finding decides; a note is worth saying and no more."""
    severities = {finding.severity for finding in findings}
    if Severity.FAIL in severities:
        return Outcome.FAIL
    return Outcome.WARN if Severity.SUSPECT in severities else Outcome.PASS


def judge(results: Iterable[CheckResult]) -> Verdict:
    """Only checks at stage ``gate`` count. A fault found outweighs what could not be looked at.

    Fit is only what was looked at and found good: a run in which no gating check passed says nothing.
    """
    outcomes = {result.outcome for result in results if result.stage is Stage.GATE}
    if Outcome.FAIL in outcomes:
        return Verdict.UNFIT
    if Outcome.UNABLE in outcomes or not outcomes & {Outcome.PASS, Outcome.WARN}:
        return Verdict.UNDECIDED
    return Verdict.FIT
