"""The one door to a node's state: load, decide, commit; again if another writer was first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches

from greenroom.policy.events import Event, RunFinished
from greenroom.policy.machine import step
from greenroom.policy.moves import Decision
from greenroom.policy.rules import Rules
from greenroom.policy.state import NodeState
from greenroom.store import Change, Committed, Json, Store, StoreUnavailable

TRIES = 20


class UnknownNode(LookupError):
    """No such node; the text names the nearest known ones."""


class Gate:
    """Events in, decisions committed. Safe to use from several threads and processes at once."""

    def __init__(self, store: Store, rules: Callable[[], Rules], now: Callable[[], float]) -> None:
        """``rules`` is asked anew each time: the configuration may be reloaded."""
        self.store, self._rules, self._now = store, rules, now

    def submit(
        self, node: str, event: Event, *, key: str = "", report: Json | None = None
    ) -> tuple[NodeState, Decision | None]:
        """The node's new state and the decision; None if this event (by ``key``) was in already.

        Raises:
            UnknownNode: the scheduler has never shown this node.
            StoreUnavailable: nothing was written.
        """
        for _ in range(TRIES):
            before = self.store.load(node)
            if before is None:
                raise UnknownNode(self._unknown(node))
            change, decision = self._decide(before, event, key=key, report=report)
            result = self.store.commit([change])[0]
            if result is Committed.DONE:
                return change.after, decision
            if result is Committed.DUPLICATE:
                return before, None
        raise StoreUnavailable(f"{node}: other writers were first {TRIES} times")

    def submit_all(
        self, events: Mapping[str, Event], states: Mapping[str, NodeState]
    ) -> dict[str, NodeState]:
        """Many nodes at once, in one transaction; what changed. A conflict is left to the next cycle."""
        changes = []
        for node, event in events.items():
            before = states.get(node) or NodeState(node=node)
            change, _ = self._decide(before, event)
            if change.after != before:
                changes.append(change)
        if not changes:
            return {}
        results = self.store.commit(changes)
        return {
            change.after.node: change.after
            for change, result in zip(changes, results, strict=True)
            if result is Committed.DONE
        }

    def _decide(
        self, before: NodeState, event: Event, *, key: str = "", report: Json | None = None
    ) -> tuple[Change, Decision]:
        now = self._now()
        if isinstance(event, RunFinished) and event.identity.hardware not in ("", before.hardware):
            event = replace(event, history=self.store.attempts_of(event.identity.hardware))
        decision = step(before, event, self._rules(), now)
        change = Change(
            before=before,
            after=decision.state,
            event=event,
            at=now,
            rule=decision.rule,
            actions=decision.actions,
            key=key,
            report=report,
        )
        return change, decision

    def _unknown(self, node: str) -> str:
        known = [state.node for state in self.store.states()]
        near = get_close_matches(node, known, n=3)
        return f"no node {node!r}" + (
            f"; did you mean {', '.join(near)}?" if near else "; see `greenroom nodes`"
        )
