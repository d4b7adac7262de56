"""The reconcile loop: what the scheduler shows against what is wanted, again and again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from greenroom.controller.effects import Effects
from greenroom.controller.gate import Gate
from greenroom.controller.groups import GroupProgress, progress
from greenroom.model.jsonish import to_json
from greenroom.model.nodes import NodeView
from greenroom.model.words import Phase, Standing
from greenroom.policy.desired import gap
from greenroom.policy.events import Event, OutGranted, Seen
from greenroom.policy.limits import grant
from greenroom.policy.rules import Rules
from greenroom.policy.state import NodeState
from greenroom.schedulers import SchedulerUnavailable
from greenroom.store import StoreUnavailable

log = structlog.get_logger("greenroom.loop")
LIMIT_KEY = "fleet-limit"
SCHEDULER_KEY = "scheduler-away"


@dataclass(slots=True)
class Health:
    """How the controller is doing, for /healthz and the log."""

    scheduler_away: str = ""
    """Why the scheduler cannot be read; empty = it can."""
    away_since: float = 0.0
    last_cycle_at: float = 0.0
    cycles: int = 0
    store_away: str = ""


class Loop:
    """One controller. ``cycle`` does one pass; ``run`` repeats it until told to stop."""

    def __init__(
        self, gate: Gate, effects: Effects, rules: Callable[[], Rules], now: Callable[[], float]
    ) -> None:
        """``now``: Unix time, s."""
        self._gate, self._effects, self._rules, self._now = gate, effects, rules, now
        self.health = Health()
        self._told: dict[str, str] = {}
        self._groups: dict[str, GroupProgress] = {}

    def run(
        self,
        stop: threading.Event,
        wake: threading.Event,
        poll_s: Callable[[], float],
        before: Callable[[], None] = lambda: None,
    ) -> None:
        """Until ``stop``; after a cycle that changed something, or when woken, sooner than ``poll_s``.

        ``before`` is called before each cycle: requests of signal handlers are met there.
        """
        while not stop.is_set():
            busy = False
            try:
                before()
                busy = self.cycle()
                self.health.store_away = ""
            except StoreUnavailable as error:
                self.health.store_away = str(error)
                log.error("store away: nothing is decided", why=str(error))  # noqa: TRY400 - no traceback needed
            except Exception:
                log.exception("a cycle failed in an unforeseen way: tried again")
            wake.wait(min(1.0, poll_s()) if busy else poll_s())
            wake.clear()

    def cycle(self) -> bool:
        """One pass. True if anything changed (another pass soon is worthwhile)."""
        store = self._gate.store
        states = {state.node: state for state in store.states()}
        views = self._read(states)
        changed: dict[str, NodeState] = {}
        wrote = False
        if views is not None:
            adopting = not states
            seen: dict[str, Event] = {
                name: Seen(view=view, adopting=adopting) for name, view in views.items()
            }
            changed = self._gate.submit_all(seen, states)
            states |= changed
            granted = self._grant(states)
            states |= granted
            changed |= granted
            wrote = self._write(states, views)
            self._tell(changed, states)
        more = self._effects.carry_out(store.pending(), views or {})
        self._clear_alerts(states)
        self.health.cycles += 1
        self.health.last_cycle_at = self._now()
        return bool(changed) or wrote or more

    def _read(self, states: dict[str, NodeState]) -> dict[str, NodeView] | None:
        owned = {
            state.node: state.hold_id
            for state in states.values()
            if state.hold_id and state.phase is not Phase.IN_SERVICE
        }
        try:
            views = {view.name: view for view in self._effects.tools.scheduler.nodes(owned)}
        except SchedulerUnavailable as error:
            if not self.health.scheduler_away:
                self.health.away_since = self._now()
                log.error("scheduler away: nothing is decided about any node", why=str(error))  # noqa: TRY400
                self._gate.store.raise_alert(SCHEDULER_KEY, f"scheduler away: {error}", self._now())
            self.health.scheduler_away = str(error)
            return None
        if self.health.scheduler_away:
            log.info("scheduler back", away_s=round(self._now() - self.health.away_since, 1))
            self.health.scheduler_away = ""
        self._gate.store.clear_alert(SCHEDULER_KEY, self._now())
        for name in states.keys() - views.keys():
            views[name] = NodeView(name=name, standing=Standing.UNKNOWN, note="not in the scheduler")
        return views

    def _grant(self, states: dict[str, NodeState]) -> dict[str, NodeState]:
        grants = grant(states.values(), self._rules(), self._now())
        if grants.waiting:
            text = (
                f"{len(grants.waiting)} node(s) should leave service but wait: {grants.out} of at most "
                f"{grants.limit} are out, {grants.in_hour} of {grants.per_hour} this hour"
            )
            asked = all(
                states[node].phase is not Phase.RECOVERING and states[node].wanted for node in grants.waiting
            )
            # Waves of checks somebody asked for wait by design; that is no reason to call a person.
            if not asked and self._gate.store.raise_alert(LIMIT_KEY, text, self._now()):
                log.error("alert", key=LIMIT_KEY, text=text)
        else:
            self._gate.store.clear_alert(LIMIT_KEY, self._now())
        events: dict[str, Event] = {
            node: OutGranted(out=grants.out + index + 1, limit=grants.limit)
            for index, node in enumerate(grants.granted)
        }
        return self._gate.submit_all(events, states)

    def _write(self, states: dict[str, NodeState], views: dict[str, NodeView]) -> bool:
        wanted = [gap(states[name], view) for name, view in views.items() if name in states]
        writes = [write for write in wanted if write is not None]
        if not writes:
            return False
        try:
            results = self._effects.tools.scheduler.apply(writes)
        except SchedulerUnavailable as error:
            log.warning("writes not done", nodes=len(writes), why=str(error))
            return False
        for done in results:
            if not done.ok and self._told.get(done.write.node) != done.detail:
                log.warning("write refused", node=done.write.node, want=done.write.want, why=done.detail)
            self._told[done.write.node] = done.detail
        return any(done.ok for done in results)

    def _tell(self, changed: dict[str, NodeState], states: dict[str, NodeState]) -> None:
        for state in changed.values():
            log.info("node", node=state.node, phase=state.phase, reason=state.reason, note=state.note)
        for group in progress(self._rules().groups, states.values()):
            if self._groups.get(group.name) == group:
                continue
            if group.enough and not (group.name in self._groups and self._groups[group.name].enough):
                log.info("group has its minimum", group=group.name, admitted=group.admitted)
            self._groups[group.name] = group
            log.info("group", **{key: value for key, value in to_json(group).items() if key != "members"})

    def _clear_alerts(self, states: dict[str, NodeState]) -> None:
        for alert in self._gate.store.alerts(open_only=True):
            kind, _, node = alert.key.partition(":")
            state = states.get(node)
            over = state and (
                (kind == "with_person" and state.phase is not Phase.WITH_PERSON)
                or (kind == "asked" and not state.asked_note)
            )
            if over:
                self._gate.store.clear_alert(alert.key, self._now())
