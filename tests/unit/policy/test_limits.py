"""The fleet limit under Hypothesis, and the ladder's edges."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from greenroom.model.words import Phase, Rung
from greenroom.policy.diagnose import Diagnosis
from greenroom.policy.ladder import ladder_for, next_rung
from greenroom.policy.limits import grant, limit_of
from greenroom.policy.rules import Rules, Step
from greenroom.policy.state import Attempt, NodeState, Wanted

NOW = 1e6


@st.composite
def fleets(draw):
    states = []
    for index in range(draw(st.integers(0, 60))):
        leaving = draw(st.sampled_from(["", "", "unfit"]))
        out = draw(st.booleans()) and not leaving
        states.append(
            NodeState(
                node=f"n{index:03d}",
                phase=Phase.HELD if out else Phase.IN_SERVICE,
                since=draw(st.floats(0, 10)),
                leaving=leaving,
                out_by_us=out,
                left_at=draw(st.sampled_from([0.0, NOW - 10, NOW - 4000])) if not leaving else 0.0,
                wanted=draw(st.sampled_from([None, Wanted(profile="full", cause="asked")]))
                if leaving
                else None,
                admitted_first_at=1.0,
            )
        )
    return states


@given(fleets(), st.floats(0.0, 0.5), st.integers(0, 5))
def test_no_more_than_the_limit_is_ever_out(states, share, most):
    rules = Rules(max_out=most, max_out_share=share)
    at_once, per_hour = limit_of(len(states), rules)
    grants = grant(states, rules, NOW)
    assert at_once >= 1
    assert len(grants.granted) <= max(0, at_once - grants.out)
    decided = [name for name in grants.granted for state in states if state.node == name and not state.wanted]
    assert len(decided) <= max(0, per_hour - grants.in_hour)
    assert set(grants.granted).isdisjoint(grants.waiting)
    assert {state.node for state in states if state.waits_for_grant} == {*grants.granted, *grants.waiting}
    if grants.waiting and not grants.granted:
        assert grants.out >= at_once or grants.in_hour >= per_hour  # nobody waits without a reason


def test_ten_per_cent_but_at_least_one():
    assert [limit_of(size, Rules())[0] for size in (1, 9, 10, 25, 2000)] == [1, 1, 1, 2, 200]


def test_a_node_that_never_served_takes_nothing_from_the_limit():
    fresh = [NodeState(node=f"n{i}", phase=Phase.RECOVERING, rung=Rung.REBOOT) for i in range(5)]
    assert not any(state.waits_for_grant for state in fresh)


def test_the_longest_matching_name_picks_the_ladder():
    rules = Rules(ladders={"gpu": (Step(rung=Rung.REPLACE),), "gpu.ecc": (Step(rung=Rung.REBOOT, times=2),)})
    assert ladder_for("gpu.ecc.uncorrectable", rules)[0].rung is Rung.REBOOT
    assert ladder_for("gpu.missing", rules)[0].rung is Rung.REPLACE
    assert ladder_for("host.cpu", rules) == rules.ladder
    assert ladder_for("gpuish.thing", rules) == rules.ladder


def test_a_fault_that_asks_for_a_replacement_is_not_rebooted_first():
    found = Diagnosis(code="gpu.row_remap.failure", text="remap failed", first=Rung.REPLACE)
    rules = Rules(offered=frozenset({Rung.REBOOT, Rung.REPLACE}))
    assert next_rung(found, NodeState(node="n", hardware="h"), rules, NOW).rung is Rung.REPLACE


def test_old_attempts_and_those_of_other_machines_do_not_count():
    found = Diagnosis(code="x", text="x", first=Rung.REBOOT)
    old = Attempt(rung=Rung.REBOOT, at=NOW - 8 * 86400, fault="x", hardware="h", action_id="1")
    other = Attempt(rung=Rung.REBOOT, at=NOW - 10, fault="x", hardware="other", action_id="2")
    mine = Attempt(rung=Rung.REBOOT, at=NOW - 10, fault="x", hardware="h", action_id="3")
    for attempts, expected in [((old, other), Rung.REBOOT), ((old, other, mine), Rung.PERSON)]:
        state = NodeState(node="n", hardware="h", attempts=attempts)
        assert next_rung(found, state, Rules(), NOW).rung is expected
