"""Any sequence of events keeps the invariants of the gate."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from greenroom.model.jsonish import from_json, to_json
from greenroom.model.nodes import NodeView, Want
from greenroom.model.results import Finding, Identity
from greenroom.model.words import Phase, Rung, Standing, Verdict
from greenroom.policy.desired import gap, want
from greenroom.policy.events import (
    CheckRequested,
    OperatorAdmit,
    OperatorHold,
    OperatorRelease,
    OperatorRetire,
    OutGranted,
    RepairEnded,
    RunFinished,
    RunLost,
    Seen,
    StartRepair,
    event_from_json,
    event_to_json,
)
from greenroom.policy.machine import step
from greenroom.policy.rules import Rules
from greenroom.policy.state import NodeState

RULES = Rules(offered=frozenset({Rung.REBOOT, Rung.REPLACE}))
MACHINES = [Identity(machine=name, boot_id="b") for name in ("one", "two")]
CODES = ["gpu.missing", "gpu.ecc.uncorrectable", "never.heard.of"]


@st.composite
def views(draw):
    return NodeView(
        name="n",
        standing=draw(st.sampled_from(list(Standing))),
        jobs=draw(st.sampled_from([(), ("7",)])),
        boot=draw(st.sampled_from([0.0, 1000.0, 1003.0, 2000.0, 3000.0])),
        marked=draw(st.booleans()),
        ours=draw(st.booleans()),
        asked=draw(st.sampled_from([None] * 5 + [Rung.REBOOT, Rung.REPLACE])),
        asked_note=draw(st.sampled_from(["", "", "", "Action:Rebot"])),
    )


@st.composite
def events(draw, state):
    runs = [state.run_id, *state.open_runs, "", "some-other-run"]
    repairs = [state.repair.action_id if state.repair else "none", "some-other-repair"]
    return draw(
        st.one_of(
            views().map(lambda view: Seen(view=view)),
            st.sampled_from([Standing.HELD, Standing.QUARANTINED, Standing.FREE]).map(
                lambda standing: Seen(view=NodeView(name="n", standing=standing, boot=state.boot or 1000.0))
            ),
            st.builds(
                RunFinished,
                run_id=st.sampled_from(runs),
                verdict=st.sampled_from(list(Verdict)),
                identity=st.sampled_from(MACHINES),
                findings=st.lists(st.sampled_from(CODES), max_size=2).map(
                    lambda codes: tuple(Finding(code=code, subject="gpu0", message="m") for code in codes)
                ),
            ),
            st.builds(RunLost, run_id=st.sampled_from(runs), why=st.just("gone")),
            st.builds(
                RepairEnded,
                action_id=st.sampled_from(repairs),
                ok=st.booleans(),
                refused=st.booleans(),
            ),
            st.just(OutGranted(out=1, limit=1)),
            st.builds(
                CheckRequested,
                profile=st.sampled_from(["quick", "full"]),
                user=st.just("ann"),
                skip_after=st.sampled_from([0.0, 10.0, 1e9]),
                all_at_once=st.booleans(),
            ),
            st.sampled_from(
                [
                    OperatorHold(user="ann", reason="r"),
                    OperatorRelease(user="ann", reason="r"),
                    OperatorAdmit(user="ann", reason="r"),
                    OperatorRetire(user="ann", reason="r"),
                ]
            ),
        )
    )


@given(st.data())
def test_any_sequence_of_events_keeps_the_invariants(data):
    state, now = NodeState(node="n"), 0.0
    repairs: list[tuple[float, str]] = []  # of our own decision, since a person last looked
    fit_since_repair = False
    for _ in range(data.draw(st.integers(5, 40), label="length")):
        now += data.draw(st.sampled_from([1.0, 30.0, 4000.0]), label="time passes, s")
        event = data.draw(events(state), label="event")
        decision = step(state, event, RULES, now)
        after = decision.state
        assert decision.rule
        assert event_from_json(event_to_json(event)) == event
        assert from_json(NodeState, to_json(after)) == after
        changed = after != state or decision.actions
        assert after.seq == state.seq + (1 if changed or not isinstance(event, Seen) else 0)

        begun = [action for action in decision.actions if isinstance(action, StartRepair)]
        assert len(begun) <= 1
        if begun:
            assert state.repair is None, "never two repairs at once on a node"
            assert isinstance(event, Seen)
            silent = event.view.standing is Standing.UNAVAILABLE and begun[0].rung is Rung.REPLACE
            assert event.view.standing is Standing.HELD or (silent and event.view.ours), (
                "never repaired while not held by us"
            )
            assert not event.view.jobs, "never repaired under a running job"
            assert not state.operator_hold
            fit_since_repair = False
            if not state.asked:
                repairs.append((now, state.hardware))
        if isinstance(event, (OperatorRelease, OperatorAdmit)):
            repairs.clear()
        recent = [when for when, machine in repairs if machine == state.hardware and machine]
        recent = [when for when in recent if now - when < RULES.attempt_window_s]
        assert len(recent) <= RULES.max_attempts, "attempts are bounded"

        if after.phase is Phase.IN_SERVICE and state.phase is not Phase.IN_SERVICE:
            fit = isinstance(event, RunFinished) and event.verdict is Verdict.FIT
            fit_since_repair = fit_since_repair or fit
            by_person = isinstance(event, OperatorAdmit) or after.admitted.by.startswith("a person")
            assert fit_since_repair or by_person, "in service only after a passing run since the last repair"
            assert after.repair is None
            fit_since_repair = True
        if after.phase is Phase.IN_SERVICE:
            assert after.admitted is not None
            assert not after.operator_hold
        if after.phase in (Phase.HELD, Phase.WITH_PERSON, Phase.RETIRED, Phase.RECOVERING):
            assert want(after) is Want.HELD
        if isinstance(event, Seen):
            write = gap(after, event.view)
            if event.view.standing is Standing.FOREIGN and not event.view.asked:
                assert write is None, "somebody else's hold is left alone"
            if event.view.standing in (Standing.UNAVAILABLE, Standing.UNKNOWN):
                assert write is None, "what does not answer is left alone"
            if write and write.want is Want.FREE:
                assert after.phase is Phase.IN_SERVICE
        state = after
