"""The store in memory: the SQL store's twin for tests, benchmarks and simulation."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

from greenroom.policy.events import Launch, RunFinished, action_to_json, event_to_json
from greenroom.policy.state import Attempt, NodeState
from greenroom.store import AlertRow, Change, Committed, Entry, Json, Pending, RunRow, Settled


class MemoryStore:
    """See store.Store."""

    def __init__(self) -> None:
        """Empty."""
        self._lock = threading.RLock()
        self._nodes: dict[str, NodeState] = {}
        self._entries: dict[str, list[Entry]] = {}
        self._keys: set[str] = set()
        self._actions: dict[str, Pending] = {}
        self._settled: dict[str, Json] = {}
        self._attempts: dict[str, dict[str, Attempt]] = {}
        self._runs: dict[str, RunRow] = {}
        self._alerts: list[AlertRow] = []

    def load(self, node: str) -> NodeState | None:  # noqa: D102 - the protocol says it
        return self._nodes.get(node)

    def states(self) -> list[NodeState]:  # noqa: D102
        with self._lock:
            return [self._nodes[node] for node in sorted(self._nodes)]

    def commit(self, changes: Sequence[Change]) -> list[Committed]:  # noqa: D102
        with self._lock:
            return [self._commit(change) for change in changes]

    def _commit(self, change: Change) -> Committed:
        before, after = change.before, change.after
        if change.key and change.key in self._keys:
            return Committed.DUPLICATE
        known = self._nodes.get(before.node)
        if (known.seq if known else 0) != before.seq:
            return Committed.CONFLICT
        self._keys.add(change.key)
        self._nodes[after.node] = after
        entry = Entry(
            node=after.node,
            seq=after.seq,
            at=change.at,
            kind=type(change.event).__name__,
            event=event_to_json(change.event),
            rule=change.rule,
            phase_before=before.phase,
            phase_after=after.phase,
            reason=after.reason,
            actions=tuple({"id": change.action_id(i)} for i in range(len(change.actions))),
        )
        self._entries.setdefault(after.node, []).append(entry)
        for index, action in enumerate(change.actions):
            one = Pending(id=change.action_id(index), node=after.node, at=change.at, action=action)
            self._actions[one.id] = one
            if isinstance(action, Launch):
                self._runs[action.run_id] = RunRow(
                    run_id=action.run_id, node=after.node, profile=action.profile, launched_at=change.at
                )
        self._save_attempts(change)
        if isinstance(change.event, RunFinished) and change.report is not None:
            self._save_report(change, change.event, change.report)
        return Committed.DONE

    def _save_report(self, change: Change, event: RunFinished, report: Json) -> None:
        run_id = event.run_id or f"{change.after.node}-{change.after.seq}-unasked"
        profile = str(report.get("profile", ""))
        known = self._runs.get(run_id) or RunRow(
            run_id=run_id, node=change.after.node, profile=profile, launched_at=change.at
        )
        self._runs[run_id] = replace(
            known,
            finished_at=change.at,
            verdict=event.verdict,
            seconds=float(report.get("seconds", 0.0)),
            report=report,
        )

    def pending(self) -> list[Pending]:  # noqa: D102
        with self._lock:
            waiting = [one for one in self._actions.values() if one.id not in self._settled]
        return sorted(waiting, key=lambda one: (one.at, one.id))

    def tried(self, action_id: str, detail: str) -> None:  # noqa: D102
        with self._lock:
            one = self._actions[action_id]
            self._actions[action_id] = replace(one, tries=one.tries + 1, detail=detail)

    def settle(self, settled: Sequence[Settled]) -> None:  # noqa: D102
        with self._lock:
            for one in settled:
                self._actions[one.action_id] = replace(self._actions[one.action_id], detail=one.detail)
                self._settled[one.action_id] = {
                    "status": "done" if one.ok else "failed",
                    "detail": one.detail,
                }

    def timeline(self, node: str, limit: int = 200) -> list[Entry]:  # noqa: D102
        with self._lock:
            return [
                replace(entry, actions=tuple(self._shown(one["id"]) for one in entry.actions))
                for entry in self._entries.get(node, [])[-limit:]
            ]

    def _shown(self, action_id: str) -> Json:
        one = self._actions[action_id]
        state = self._settled.get(action_id, {"status": "pending", "detail": one.detail})
        return {**action_to_json(one.action), **state}

    def runs(self, node: str = "", limit: int = 50) -> list[RunRow]:  # noqa: D102
        with self._lock:
            mine = [replace(run, report={}) for run in self._runs.values() if node in ("", run.node)]
        return sorted(mine, key=lambda run: -run.launched_at)[:limit]

    def run(self, run_id: str) -> RunRow | None:  # noqa: D102
        return self._runs.get(run_id)

    def attempts_of(self, hardware: str) -> tuple[Attempt, ...]:  # noqa: D102
        with self._lock:
            known = list(self._attempts.get(hardware, {}).values())
        return tuple(sorted(known, key=lambda one: one.at))

    def _save_attempts(self, change: Change) -> None:
        after = {one.action_id: one for one in change.after.attempts}
        for one in change.before.attempts:
            if one.action_id not in after:
                self._attempts.get(one.hardware, {}).pop(one.action_id, None)
        for one in after.values():
            self._attempts.setdefault(one.hardware, {})[one.action_id] = one

    def raise_alert(self, key: str, text: str, at: float) -> bool:  # noqa: D102
        with self._lock:
            if any(alert.key == key and not alert.cleared_at for alert in self._alerts):
                return False
            self._alerts.append(AlertRow(key=key, text=text, raised_at=at))
            return True

    def clear_alert(self, key: str, at: float) -> None:  # noqa: D102
        with self._lock:
            self._alerts = [
                replace(alert, cleared_at=at) if alert.key == key and not alert.cleared_at else alert
                for alert in self._alerts
            ]

    def alerts(self, *, open_only: bool = False, limit: int = 100) -> list[AlertRow]:  # noqa: D102
        with self._lock:
            shown = [alert for alert in self._alerts if not (open_only and alert.cleared_at)]
        return shown[::-1][:limit]

    def close(self) -> None:
        """Nothing to let go of."""
