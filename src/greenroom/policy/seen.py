"""What a reading of the scheduler leads to, phase by phase."""

from __future__ import annotations

from dataclasses import replace

from greenroom.model.nodes import NodeView
from greenroom.model.words import Phase, Rung, Standing
from greenroom.policy.diagnose import Diagnosis
from greenroom.policy.events import Alert, Launch, StartRepair
from greenroom.policy.ladder import next_rung
from greenroom.policy.moves import (
    Decision,
    admission,
    cancel,
    hold,
    move,
    next_id,
    on_start,
    person,
    serve,
    treat,
)
from greenroom.policy.rules import Rules
from greenroom.policy.state import Attempt, NodeState, Repair, Wanted

OURS = (Standing.HELD, Standing.QUARANTINED)
AWAY = (Standing.UNAVAILABLE, Standing.UNKNOWN)
SAW = "seen in the scheduler"


def seen(state: NodeState, view: NodeView, rules: Rules, now: float, *, adopting: bool = False) -> Decision:
    """Absorb the reading, then decide by phase. ``adopting``: the first reading of all."""
    after = _absorb(state, view, rules, now)
    booted = state.boot > 0 and after.boot != state.boot
    if after.asked_note and after.asked_note != state.asked_note:
        alert = Alert(key=f"asked:{state.node}", text=f"{state.node}: {after.asked_note}")
        return Decision(after, "an admin's request that cannot be followed is reported", (alert,))
    if after.phase is Phase.RETIRED:
        return Decision(after, SAW)
    if view.asked and after.phase is not Phase.RECOVERING and view.asked in rules.offered:
        return _admin_asks(after, view.asked, now)
    if _resumed_by_person(after, view, rules, now, booted=booted):
        by = "a person, in the scheduler"
        moved = serve(after, now, reason=f"admitted by {by}", admitted=admission(after, now, by=by))
        return Decision(moved, "what an operator undid in the scheduler stays undone", cancel(after))
    if booted:
        after = replace(after, open_runs=(), boot_id="")
    match after.phase:
        case Phase.NEW:
            return _new(after, view, rules, now, adopting=adopting)
        case Phase.IN_SERVICE:
            return _in_service(after, rules, now, booted=booted)
        case Phase.HELD:
            return _held(after, view, rules, now, booted=booted)
        case Phase.CHECKING:
            return _checking(after, view, rules, now, booted=booted)
        case Phase.RECOVERING:
            return _recovering(after, view, rules, now)
        case _:
            return Decision(after, SAW)


def _absorb(state: NodeState, view: NodeView, rules: Rules, now: float) -> NodeState:
    """What the reading says, without deciding. A boot time within the jitter is the same boot."""
    moved = view.boot > 0 and abs(view.boot - state.boot) > view.boot_jitter_s
    # The scheduler's words flicker; they are kept where they explain why nothing is done.
    telling = view.standing in (Standing.FOREIGN, *AWAY)
    impossible = view.asked is not None and view.asked not in rules.offered
    cannot = (
        f"{view.asked} was asked for in the drain reason, but nothing here can do it" if impossible else ""
    )
    held_at = state.held_at or (now if view.standing is Standing.HELD else 0.0)
    known = view.standing is not Standing.UNKNOWN
    return replace(
        state,
        standing=view.standing,
        note=view.note if telling else "",
        asked_note=view.asked_note or cannot,
        held_at=0.0 if moved or state.phase in (Phase.CHECKING, Phase.IN_SERVICE) else held_at,
        groups=rules.groups_of(view) if known else state.groups,
        partitions=view.groups if known else state.partitions,
        features=view.features if known else state.features,
        profile=rules.profile_of(view) if known else state.profile,
        boot=view.boot if moved else state.boot,
        arrived_at=state.arrived_at or (now if view.standing not in AWAY else 0.0),
        since=state.since or now,
        hold_id=state.hold_id or next_id(state),
    )


def _resumed_by_person(state: NodeState, view: NodeView, rules: Rules, now: float, *, booted: bool) -> bool:
    """Our marker is still there and the hold we had seen is not: somebody resumed it on purpose.

    Not so after a boot (power saving clears the drain), nor while a repair or a check of ours, which
    resume the node themselves, is under way, nor for a hold so young that a crash of the scheduler
    may have lost it: those are written again.
    """
    waiting = state.phase in (Phase.HELD, Phase.WITH_PERSON, Phase.RECOVERING) and state.repair is None
    settled = 0 < state.held_at < now - rules.settle_s
    return waiting and settled and view.standing is Standing.FREE and view.marked and not booted


def _admin_asks(state: NodeState, rung: Rung, now: float) -> Decision:
    why = f"an admin asked for {rung.value} in the drain reason"
    moved = move(state, Phase.RECOVERING, f"{rung.value}: {why}", now)
    moved = replace(
        moved,
        rung=rung,
        asked=True,
        fault="admin",
        run_id="",
        open_runs=(),
        wanted=None,
        repair=None,
        leaving="",
        operator_hold="",
    )
    return Decision(moved, "Action:Reboot and Action:Replace of an admin are honoured", cancel(state))


def _new(state: NodeState, view: NodeView, rules: Rules, now: float, *, adopting: bool) -> Decision:
    if view.standing in OURS:
        wanted = state.wanted or on_start(state, rules, "new node")
        return Decision(hold(state, now, reason="new node", wanted=wanted), "every new node is checked")
    if view.standing is not Standing.FREE or state.leaving:
        return Decision(state, SAW)
    if rules.trust_running:
        trusted = admission(state, now, by="adoption")
        moved = serve(state, now, reason="worked already when first seen", admitted=trusted)
        return Decision(moved, "trust_running: what works when first seen is admitted as it is")
    if adopting:
        wanted = on_start(state, rules, "first seen working")
        waits = replace(state, leaving="first seen working", wanted=wanted, reason="first seen working")
        return Decision(waits, "nodes that already work are checked in waves, under the fleet limit")
    return Decision(state, SAW)


def _in_service(state: NodeState, rules: Rules, now: float, *, booted: bool) -> Decision:
    if booted:
        why = "rebooted while in service"
        held = hold(state, now, reason=why, wanted=on_start(state, rules, why))
        return Decision(replace(held, admitted=None), "a boot nobody admitted is checked")
    wanted = state.wanted
    if wanted and wanted.skip_after and now > wanted.skip_after:
        return Decision(
            replace(state, wanted=None, leaving=""), "the check was skipped: its turn did not come in time"
        )
    return Decision(state, SAW)


def _held(state: NodeState, view: NodeView, rules: Rules, now: float, *, booted: bool) -> Decision:
    if booted:
        wanted = on_start(state, rules, "rebooted while held")
        held = replace(hold(state, now, reason=state.reason, wanted=wanted), admitted=None)
        return Decision(held, "a boot nobody admitted is checked")
    if state.wanted is None and state.operator_hold:
        return Decision(state, SAW)
    wanted = state.wanted or on_start(state, rules, "held")
    if view.standing not in OURS:
        return Decision(state, SAW)
    if view.jobs:
        late = wanted.skip_after and now > wanted.skip_after
        if late and state.admitted:
            reason = f"check skipped: {len(view.jobs)} job(s) still running"
            moved = serve(state, now, reason=reason, admitted=state.admitted)
            return Decision(moved, "a busy node is not interrupted: skipped after the stated wait")
        return Decision(state, SAW)
    moved = replace(move(state, Phase.CHECKING, f"{wanted.cause}: {wanted.profile} check", now), run_id="")
    return Decision(replace(moved, wanted=wanted), "held and idle: it can be checked")


def _checking(state: NodeState, view: NodeView, rules: Rules, now: float, *, booted: bool) -> Decision:
    if booted and state.run_id:
        return no_result(state, "rebooted during its check", rules, now)
    if state.run_id:
        if now > state.run_deadline:
            return no_result(state, "no result within its deadline", rules, now)
        return Decision(state, SAW)
    wanted = state.wanted or on_start(state, rules, "held")
    if view.jobs or view.standing is Standing.FOREIGN:
        why = "waits for running jobs" if view.jobs else "somebody else holds it"
        return Decision(hold(state, now, reason=why, wanted=wanted), "the check has to wait")
    if view.standing is not Standing.QUARANTINED:
        return Decision(replace(state, wanted=wanted), SAW)
    run = next_id(state)
    launched = replace(
        state,
        run_id=run,
        run_profile=wanted.profile,
        run_deadline=now + rules.profile_time_s.get(wanted.profile, 600.0) + rules.run_grace_s,
        open_runs=(*state.open_runs, run)[-4:],
        wanted=None,
    )
    launch = Launch(run_id=run, profile=wanted.profile, since=state.seen_to_at, reset_at=state.reset_at)
    return Decision(launched, f"quarantined: the {wanted.profile} check starts", (launch,))


def no_result(state: NodeState, why: str, rules: Rules, now: float) -> Decision:
    """A run without a verdict: try again, then call a person. Neither pass nor fail."""
    tries = state.undecided + 1
    state = replace(state, undecided=tries)
    if tries >= rules.undecided_tries:
        decided = person(state, f"could not tell, {tries} times: {why}", now)
        return Decision(decided.state, decided.rule, (*cancel(state), *decided.actions))
    again = Wanted(profile=state.run_profile, cause=f"again ({why})")
    held = hold(state, now, reason=why, wanted=state.wanted or again)
    return Decision(held, "undecided is neither pass nor fail: checked again", cancel(state))


def _recovering(state: NodeState, view: NodeView, rules: Rules, now: float) -> Decision:
    repair = state.repair
    if repair is None:
        # What did not come back from our own reboot is still ours: it may be replaced while it is silent.
        silent = view.standing is Standing.UNAVAILABLE and view.ours
        gone = silent and state.rung is Rung.REPLACE and Rung.REBOOT in state.refused
        ready = (view.standing is Standing.HELD or gone) and not view.jobs and not view.our_jobs
        if state.operator_hold:
            held = hold(state, now, reason=f"held by {state.operator_hold}", wanted=None)
            return Decision(held, "an operator's hold stops repairs that have not begun")
        if state.rung is None or not ready or state.waits_for_grant:
            return Decision(state, SAW)
        return _start(state, state.rung, rules, now)
    over = repair.done or (repair.rung is Rung.REBOOT and state.boot != repair.boot_before)
    if over and view.standing in (*OURS, Standing.FREE):
        why = f"after {repair.rung.value}"
        held = hold(state, now, reason=why, wanted=on_start(state, rules, why))
        if repair.rung is Rung.RESET_GPU and state.attempts:
            held = replace(held, reset_at=state.attempts[-1].at)
        return Decision(replace(held, admitted=None), "every repair is followed by a check")
    if now > repair.deadline:
        return failed(state, "not over within its deadline", rules, now)
    return Decision(state, SAW)


def _start(state: NodeState, rung: Rung, rules: Rules, now: float) -> Decision:
    action_id = f"{next_id(state)}-{rung.value}"
    attempt = Attempt(rung=rung, at=now, fault=state.fault, hardware=state.hardware, action_id=action_id)
    repair = Repair(
        action_id=action_id,
        rung=rung,
        fault=state.fault,
        deadline=now + rules.repair_time_s.get(rung, 7200.0),
        boot_before=state.boot,
    )
    started = replace(state, repair=repair, attempts=(*state.attempts, attempt)[-20:], admitted=None)
    action = StartRepair(action_id=action_id, rung=rung, reason=state.reason)
    return Decision(started, f"held and idle: {rung.value} starts", (action,))


def failed(state: NodeState, why: str, rules: Rules, now: float, *, refused: bool = False) -> Decision:
    """A repair that did not come about: the next rung. A refused one does not count as an attempt."""
    repair = state.repair
    if repair is None:
        return Decision(state, SAW)
    attempts = state.attempts
    if refused:
        attempts = tuple(one for one in attempts if one.action_id != repair.action_id)
    state = replace(state, attempts=attempts, refused=(*state.refused, repair.rung), repair=None)
    text = f"{repair.rung.value} {'refused' if refused else 'failed'}: {why}"
    found = Diagnosis(code=state.fault, text=f"{state.fault or 'fault'}; {text}", first=repair.rung)
    step = next_rung(found, state, rules, now)
    return treat(state, step.rung, step.why, now)
