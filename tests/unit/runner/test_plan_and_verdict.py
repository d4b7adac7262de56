from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.checks.frame import NotApplicable, load_all
from greenroom.model.results import CheckResult, Finding
from greenroom.model.words import Outcome, Severity, Stage, Verdict
from greenroom.runner.plan import make_plan
from greenroom.runner.profiles import PROFILES, Profile
from greenroom.runner.verdict import judge, outcome_of

CHECKS = list(load_all().values())
RESULTS = st.lists(
    st.builds(CheckResult, check=st.just("x"), outcome=st.sampled_from(Outcome), stage=st.sampled_from(Stage))
)


def result(outcome: Outcome, stage: Stage = Stage.GATE) -> CheckResult:
    return CheckResult(check="x", outcome=outcome, stage=stage)


@pytest.mark.parametrize("profile", PROFILES.values())
def test_every_profile_has_room_for_all_its_checks(profile):
    plan = make_plan(CHECKS, profile)
    assert {step.check.name for step in plan.steps} == {c.name for c in CHECKS if profile.name in c.profiles}
    assert 0 < plan.planned_s <= profile.budget_s
    assert set(plan.left_out) | {step.check.name for step in plan.steps} == set(load_all())
    assert all(step.deadline_s > step.check.cost_s + step.load_s for step in plan.steps)


@given(budget_s=st.floats(0.001, 1e5))
def test_no_plan_is_longer_than_its_budget_and_the_rest_says_why(budget_s):
    plan = make_plan(CHECKS, Profile(name="light", budget_s=budget_s, about=""))
    assert plan.planned_s <= budget_s + 1e-9
    assert all(plan.left_out.values())
    assert len(plan.steps) + len(plan.left_out) == len(CHECKS)


def test_cheap_checks_first_and_only():
    plan = make_plan(CHECKS, PROFILES["light"])
    costs = [step.check.cost_s + step.load_s for step in plan.steps]
    assert costs == sorted(costs)
    only = make_plan(CHECKS, PROFILES["light"], only=["cpu.stress"])
    assert [step.check.name for step in only.steps] == ["cpu.stress"]
    assert only.left_out["disk.verify"] == "not asked for"


@pytest.mark.parametrize(
    ("severities", "outcome"),
    [((), "pass"), (("note",), "pass"), (("note", "suspect"), "warn"), (("suspect", "fail"), "fail")],
)
def test_outcome(severities, outcome):
    findings = [Finding(code="a", subject="b", message="c", severity=Severity(word)) for word in severities]
    assert outcome_of(findings) == outcome


@pytest.mark.parametrize(
    ("results", "verdict"),
    [
        ([], Verdict.UNDECIDED),
        ([result(Outcome.SKIPPED)], Verdict.UNDECIDED),
        ([result(Outcome.PASS, Stage.WARN)], Verdict.UNDECIDED),
        ([result(Outcome.PASS)], Verdict.FIT),
        ([result(Outcome.PASS), result(Outcome.SKIPPED)], Verdict.FIT),
        ([result(Outcome.WARN)], Verdict.FIT),
        ([result(Outcome.PASS), result(Outcome.UNABLE)], Verdict.UNDECIDED),
        ([result(Outcome.PASS), result(Outcome.UNABLE, Stage.WARN)], Verdict.FIT),
        ([result(Outcome.PASS), result(Outcome.FAIL, Stage.WARN)], Verdict.FIT),
        ([result(Outcome.PASS), result(Outcome.FAIL, Stage.OBSERVE)], Verdict.FIT),
        ([result(Outcome.UNABLE), result(Outcome.FAIL)], Verdict.UNFIT),
    ],
)
def test_verdict(results, verdict):
    assert judge(results) is verdict


@given(RESULTS)
def test_fit_needs_a_pass_and_no_doubt_at_the_gate(results):
    gate = [r.outcome for r in results if r.stage is Stage.GATE]
    fit = judge(results) is Verdict.FIT
    assert fit == (not {"fail", "unable"} & set(gate) and bool({"pass", "warn"} & set(gate)))


@given(RESULTS, RESULTS)
def test_a_failure_at_the_gate_is_never_talked_away(before, after):
    assert judge([*before, result(Outcome.FAIL), *after]) is Verdict.UNFIT


def test_not_applicable_has_a_reason():
    assert NotApplicable("why").reason == "why"
