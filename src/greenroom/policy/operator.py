"""What operators ask for. Every request is answered; none is silently dropped."""

from __future__ import annotations

from dataclasses import replace

from greenroom.model.words import Phase
from greenroom.policy.events import (
    CheckRequested,
    OperatorAdmit,
    OperatorHold,
    OperatorRelease,
    OperatorRetire,
)
from greenroom.policy.moves import Decision, admission, cancel, hold, move, on_start, serve
from greenroom.policy.rules import Rules
from greenroom.policy.state import NodeState, Wanted


def check_requested(state: NodeState, event: CheckRequested, rules: Rules) -> Decision:
    """Merge with what is wanted already; a node in service waits for its turn."""
    known = state.wanted
    wanted = Wanted(
        profile=rules.stronger(event.profile, known.profile) if known else event.profile,
        cause=f"asked by {event.user}" + (f": {event.reason}" if event.reason else ""),
        asked_by=event.user,
        skip_after=max(known.skip_after, event.skip_after)
        if known and known.skip_after
        else event.skip_after,
        all_at_once=event.all_at_once or bool(known and known.all_at_once),
    )
    match state.phase:
        case Phase.IN_SERVICE if state.leaving and not known:
            return Decision(state, "it leaves service already, found unfit")
        case Phase.IN_SERVICE:
            return Decision(
                replace(state, wanted=wanted, leaving=wanted.cause),
                "checked when its turn comes, never interrupted",
            )
        case Phase.NEW | Phase.HELD:
            wanted = replace(wanted, skip_after=wanted.skip_after if state.admitted else 0.0)
            return Decision(replace(state, wanted=wanted), "merged with the check it waits for")
        case Phase.CHECKING if not state.run_id:
            return Decision(replace(state, wanted=wanted), "merged with the check about to start")
        case Phase.CHECKING if rules.stronger(state.run_profile, event.profile) == state.run_profile:
            return Decision(state, f"the {state.run_profile} check under way covers it")
        case Phase.CHECKING:
            return Decision(replace(state, wanted=wanted), "a larger check follows the one under way")
        case _:
            return Decision(
                state, f"not checked: it is {state.phase}; `greenroom release` checks and admits it"
            )


def operator_hold(state: NodeState, event: OperatorHold, now: float) -> Decision:
    """Out until released. A check or repair under way goes on; nothing new is repaired or admitted."""
    held = replace(state, operator_hold=f"{event.user}: {event.reason}")
    if state.phase in (Phase.IN_SERVICE, Phase.NEW):
        held = hold(held, now, reason=f"held by {held.operator_hold}", wanted=None)
        return Decision(replace(held, out_by_us=False), "an operator holds it")
    return Decision(held, "an operator holds it, on top of what is going on")


def release(state: NodeState, event: OperatorRelease, rules: Rules, now: float) -> Decision:
    """The hold ends with a check; attempts start from zero, for a person has looked at it."""
    if state.phase is Phase.IN_SERVICE:
        return Decision(state, "nothing to release: it is in service")
    freed = replace(state, operator_hold="")
    if state.phase in (Phase.CHECKING, Phase.RECOVERING):
        return Decision(freed, "what is under way goes on and decides")
    if state.phase is Phase.WITH_PERSON:
        freed = replace(freed, seen_to_at=now)
    freed = replace(freed, attempts=(), refused=(), undecided=0, fault="")
    why = f"released by {event.user}: {event.reason}"
    held = hold(freed, now, reason=why, wanted=on_start(freed, rules, f"released by {event.user}"))
    return Decision(held, "a released node is checked before it is admitted")


def admit(state: NodeState, event: OperatorAdmit, now: float) -> Decision:
    """Into service on a person's word, recorded as such."""
    if state.repair and not state.repair.done:
        return Decision(state, f"not admitted: a {state.repair.rung} is under way; try again when it is over")
    if state.phase is Phase.IN_SERVICE and not state.leaving:
        return Decision(state, "nothing to admit: it is in service")
    reason = f"admitted by {event.user}: {event.reason}"
    moved = serve(state, now, reason=reason, admitted=admission(state, now, by=event.user))
    return Decision(moved, "an operator's word goes", cancel(state))


def retire(state: NodeState, event: OperatorRetire, now: float) -> Decision:
    """Out for good; `release` brings it back."""
    moved = hold(state, now, reason="", wanted=None)
    moved = move(moved, Phase.RETIRED, f"retired by {event.user}: {event.reason}", now)
    retired = replace(moved, open_runs=(), admitted=None, out_by_us=False, operator_hold="")
    return Decision(retired, "an operator retired it", cancel(state))
