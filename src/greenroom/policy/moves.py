"""The moves between phases. Each clears what the new phase must not remember."""

from __future__ import annotations

from dataclasses import dataclass, replace

from greenroom.model.words import Phase, Rung
from greenroom.policy.events import Action, Alert, Cancel
from greenroom.policy.rules import Rules
from greenroom.policy.state import Admitted, NodeState, Wanted


@dataclass(frozen=True, slots=True)
class Decision:
    """A step's outcome: the new state, what is to be done, and the rule that said so (for people)."""

    state: NodeState
    rule: str
    actions: tuple[Action, ...] = ()


def move(state: NodeState, phase: Phase, reason: str, now: float) -> NodeState:
    """Into a phase (or the same one with another reason). A new hold gets a new hold id."""
    opened = state.phase is Phase.IN_SERVICE and phase is not Phase.IN_SERVICE
    return replace(
        state,
        phase=phase,
        reason=reason,
        since=now if phase is not state.phase else state.since,
        hold_id=next_id(state) if opened or not state.hold_id else state.hold_id,
    )


def next_id(state: NodeState) -> str:
    """An id that is the same however often this step is computed: node and sequence number."""
    return f"{state.node}-{state.seq + 1}"


def hold(state: NodeState, now: float, *, reason: str, wanted: Wanted | None) -> NodeState:
    """Held, with a check wanted (or none: an operator's hold)."""
    held = move(state, Phase.HELD, reason, now)
    return replace(held, wanted=wanted, run_id="", leaving="", repair=None, rung=None, asked=False)


def serve(state: NodeState, now: float, *, reason: str, admitted: Admitted) -> NodeState:
    """In service: the illness is over."""
    served = move(state, Phase.IN_SERVICE, reason, now)
    return replace(
        served,
        admitted=admitted,
        seen_to_at=now,
        admitted_first_at=state.admitted_first_at or now,
        operator_hold="",
        wanted=None,
        run_id="",
        open_runs=(),
        undecided=0,
        fault="",
        rung=None,
        asked=False,
        repair=None,
        refused=(),
        leaving="",
        out_by_us=False,
    )


def admission(state: NodeState, now: float, *, by: str, run_id: str = "") -> Admitted:
    """An admission of this boot of this machine."""
    return Admitted(
        at=now, by=by, run_id=run_id, boot=state.boot, boot_id=state.boot_id, hardware=state.hardware
    )


def on_start(state: NodeState, rules: Rules, cause: str) -> Wanted:
    """The on-start check; never weaker than what is wanted already, or than what found the fault."""
    profile = state.profile or rules.on_start_profile
    for known in (state.wanted.profile if state.wanted else "", state.run_profile if state.fault else ""):
        profile = rules.stronger(profile, known) if known else profile
    return Wanted(profile=profile, cause=cause)


def person(state: NodeState, why: str, now: float) -> Decision:
    """Stop and call a person."""
    moved = replace(
        move(state, Phase.WITH_PERSON, why, now),
        wanted=None,
        run_id="",
        open_runs=(),
        rung=None,
        asked=False,
        repair=None,
        leaving="",
    )
    alert = Alert(key=f"with_person:{state.node}", text=f"{state.node} needs a person: {why}")
    return Decision(moved, "at the end of the ladder a person decides", (alert,))


def treat(state: NodeState, rung: Rung, why: str, now: float) -> Decision:
    """On to the next rung, or to a person."""
    if rung is Rung.PERSON:
        return person(state, why, now)
    moved = move(state, Phase.RECOVERING, f"{rung.value}: {why}", now)
    moved = replace(moved, rung=rung, run_id="", open_runs=(), wanted=None, repair=None, leaving="")
    return Decision(moved, f"next rung of the ladder is {rung.value}")


def cancel(state: NodeState) -> tuple[Action, ...]:
    """End the run under way, if there is one."""
    return (Cancel(run_id=state.run_id),) if state.run_id else ()
