"""Runs one check to its end or its deadline and makes an outcome of it; checks never see a clock."""

from __future__ import annotations

import time

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, NotApplicable
from greenroom.model.results import CheckResult, Finding, Json
from greenroom.model.words import Outcome
from greenroom.probes.host import Host, ProbeUnavailable
from greenroom.probes.isolation import call_isolated
from greenroom.runner.plan import Planned
from greenroom.runner.verdict import outcome_of


def execute(step: Planned, *, facts: Facts, host: Host, expected: Expected, left_s: float) -> CheckResult:
    """The check's result. It is ended after its deadline or ``left_s``, whichever comes first.

    Raises:
        CallBug: the check raised what is no answer; that is our bug and never a verdict.
    """
    check = step.check
    known = expected.only(check.expects)
    deadline_s = min(step.deadline_s, left_s)
    started = time.monotonic()
    reason, answer = "", None
    if deadline_s <= 0:
        reason = "the time of the run was used up before it"
    else:
        try:
            answer = call_isolated(lambda: check.function(facts, host, known), timeout_s=deadline_s)
        except ProbeUnavailable as error:
            reason = str(error)
    return _stamp(step, answer, known, reason=reason, seconds=time.monotonic() - started)


def _stamp(
    step: Planned, answer: Answer | None, expected: Expected, *, reason: str, seconds: float
) -> CheckResult:
    check, outcome = step.check, Outcome.UNABLE
    looked: Json = {}
    findings: tuple[Finding, ...] = ()
    if isinstance(answer, NotApplicable):
        outcome, reason, looked = Outcome.SKIPPED, answer.reason, answer.looked
    elif answer is not None and not answer.looked and not answer.findings:
        reason = "it looked at nothing"
    elif answer is not None:
        outcome, looked, findings = outcome_of(answer.findings), answer.looked, answer.findings
    thresholds = {
        name: {"value": threshold.value, "source": threshold.source}
        for name, threshold in sorted(expected.thresholds.items())
        if threshold.value is not None
    }
    return CheckResult(
        check=check.name,
        outcome=outcome,
        stage=check.stage,
        seconds=round(seconds, 3),
        reason=reason,
        findings=findings,
        looked=looked,
        thresholds=thresholds,
    )
