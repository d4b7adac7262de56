"""The gate: ``step(state, event, rules, now) -> Decision``. Total; never raises, never looks at a clock."""

from __future__ import annotations

from dataclasses import replace

from greenroom.model.words import Phase, Verdict
from greenroom.policy.diagnose import Diagnosis, diagnose, remedy_of
from greenroom.policy.events import (
    CheckRequested,
    Event,
    OperatorAdmit,
    OperatorHold,
    OperatorRelease,
    OperatorRetire,
    OutGranted,
    RepairEnded,
    Requeue,
    RunFinished,
    RunLost,
    Seen,
)
from greenroom.policy.ladder import next_rung
from greenroom.policy.moves import Decision, admission, cancel, hold, serve, treat
from greenroom.policy.operator import admit, check_requested, operator_hold, release, retire
from greenroom.policy.rules import Rules
from greenroom.policy.seen import failed, no_result, seen
from greenroom.policy.state import NodeState


def step(state: NodeState, event: Event, rules: Rules, now: float) -> Decision:
    """One event, one decision. ``seq`` grows with every event but a reading that changes nothing."""
    decision = _decide(state, event, rules, now)
    if isinstance(event, Seen) and decision.state == state and not decision.actions:
        return decision
    return replace_seq(decision, state.seq + 1)


def replace_seq(decision: Decision, seq: int) -> Decision:
    """The decision with the sequence number of its event."""
    return replace(decision, state=replace(decision.state, seq=seq))


def _decide(state: NodeState, event: Event, rules: Rules, now: float) -> Decision:
    match event:
        case Seen():
            return seen(state, event.view, rules, now, adopting=event.adopting)
        case RunFinished():
            return _run_finished(state, event, rules, now)
        case RunLost():
            if state.phase is Phase.CHECKING and state.run_id == event.run_id:
                return no_result(state, event.why, rules, now)
            return Decision(state, "of a run that is over already: kept, nothing decided")
        case RepairEnded():
            return _repair_ended(state, event, rules, now)
        case OutGranted():
            return _out_granted(state, rules, now)
        case CheckRequested():
            return check_requested(state, event, rules)
        case OperatorHold():
            return operator_hold(state, event, now)
        case OperatorRelease():
            return release(state, event, rules, now)
        case OperatorAdmit():
            return admit(state, event, now)
        case OperatorRetire():
            return retire(state, event, now)


def _run_finished(state: NodeState, event: RunFinished, rules: Rules, now: float) -> Decision:
    if not event.run_id:
        return _found_in_service(state, event, rules, now)
    if event.run_id not in state.open_runs or state.phase not in (Phase.HELD, Phase.CHECKING):
        return Decision(state, "a result that comes too late: kept, nothing decided")
    known = {attempt.action_id for attempt in state.attempts}
    carried = tuple(attempt for attempt in event.history if attempt.action_id not in known)
    state = replace(
        state,
        hardware=event.identity.hardware or state.hardware,
        boot_id=event.identity.boot_id or state.boot_id,
        attempts=tuple(sorted((*state.attempts, *carried), key=lambda one: one.at))[-20:],
        verdict=event.verdict,
        verdict_run=event.run_id,
        verdict_at=now,
    )
    others = cancel(state) if state.run_id != event.run_id else ()
    match event.verdict:
        case Verdict.UNDECIDED:
            return no_result(state, _first(event, "undecided"), rules, now)
        case Verdict.FIT:
            decision = _fit(state, event, now)
        case Verdict.UNFIT:
            decision = _unfit(state, event, rules, now)
    return Decision(decision.state, decision.rule, (*others, *decision.actions))


def _first(event: RunFinished, otherwise: str) -> str:
    return event.findings[0].message if event.findings else otherwise


def _fit(state: NodeState, event: RunFinished, now: float) -> Decision:
    if state.wanted:
        held = hold(state, now, reason=state.wanted.cause, wanted=state.wanted)
        return Decision(held, "fit, but a larger check was asked for meanwhile")
    if state.operator_hold:
        held = hold(state, now, reason=f"fit; held by {state.operator_hold}", wanted=None)
        return Decision(replace(held, open_runs=()), "fit, but an operator's hold is not ours to undo")
    admitted = admission(state, now, by="run", run_id=event.run_id)
    return Decision(
        serve(state, now, reason=f"fit ({state.run_profile})", admitted=admitted), "fit: admitted"
    )


def _unfit(state: NodeState, event: RunFinished, rules: Rules, now: float) -> Decision:
    found = diagnose(event.findings, rules.faults)
    state = replace(state, fault=found.code, undecided=0, admitted=None)
    if state.operator_hold:
        held = hold(state, now, reason=f"unfit: {found.text}; held by {state.operator_hold}", wanted=None)
        return Decision(replace(held, open_runs=()), "unfit, but an operator holds it: no repair")
    chosen = next_rung(found, state, rules, now)
    return treat(state, chosen.rung, chosen.why, now)


def _found_in_service(state: NodeState, event: RunFinished, rules: Rules, now: float) -> Decision:
    if state.phase is not Phase.IN_SERVICE or event.verdict is not Verdict.UNFIT:
        return Decision(state, "nobody asked and nothing is to be done: kept")
    found = diagnose(event.findings, rules.faults)
    state = replace(state, fault=found.code, verdict=event.verdict, verdict_at=now)
    return Decision(
        replace(state, leaving=found.text, wanted=None),
        "unfit in service: leaves when the fleet limit allows",
    )


def _out_granted(state: NodeState, rules: Rules, now: float) -> Decision:
    if not state.waits_for_grant:
        return Decision(state, "nothing waits for the fleet limit any more")
    # What an operator takes out beyond the limit is not counted; its repair then needs a grant of its own.
    beyond = state.wanted is not None and state.wanted.all_at_once
    state = replace(state, out_by_us=not beyond, left_at=now if state.by_our_decision else state.left_at)
    if state.phase is Phase.RECOVERING:
        return Decision(state, "the fleet limit allows the repair")
    if state.wanted:
        held = hold(state, now, reason=state.wanted.cause, wanted=state.wanted)
        return Decision(held, "its turn to be checked")
    found = Diagnosis(code=state.fault, text=state.leaving, first=remedy_of(state.fault, rules.faults))
    chosen = next_rung(found, state, rules, now)
    decision = treat(replace(state, admitted=None), chosen.rung, chosen.why, now)
    if rules.on_fail_in_service == "requeue":
        requeue = Requeue(reason=f"greenroom: {state.leaving}")
        return Decision(decision.state, decision.rule, (requeue, *decision.actions))
    return decision


def _repair_ended(state: NodeState, event: RepairEnded, rules: Rules, now: float) -> Decision:
    repair = state.repair
    if repair is None or repair.action_id != event.action_id:
        return Decision(state, "of a repair that is over already: kept, nothing decided")
    if event.ok:
        return Decision(
            replace(state, repair=replace(repair, done=True)), "the provider is done; the node is awaited"
        )
    return failed(state, event.detail or "no reason given", rules, now, refused=event.refused)
