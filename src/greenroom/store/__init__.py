"""What is remembered: node states, events, pending actions, runs, alerts. Two twins: SQL and memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from greenroom.model.words import Phase
from greenroom.policy.events import Action, Event
from greenroom.policy.state import Attempt, NodeState

Json = dict[str, Any]


class StoreUnavailable(Exception):
    """The store did not answer, or is locked for too long. Nothing was written."""


class Committed(StrEnum):
    """What became of a change."""

    DONE = "done"
    CONFLICT = "conflict"
    """Another writer was first: load, decide and try again."""
    DUPLICATE = "duplicate"
    """This event (by key) is in already: nothing to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One event and all that follows from it: written together or not at all."""

    before: NodeState
    after: NodeState
    event: Event
    at: float
    """Unix time, s."""
    rule: str
    actions: tuple[Action, ...] = ()
    key: str = ""
    """Names the event for ever, so that a repeated delivery is known; empty: not repeatable."""
    report: Json | None = None
    """The whole report of a finished run."""

    def action_id(self, index: int) -> str:
        """Id of the action with this index: the same whenever the step is computed again."""
        return f"{self.after.node}:{self.after.seq}:{index}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """An action still to be carried out (or started and not yet over)."""

    id: str
    node: str
    at: float
    action: Action
    tries: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """An action that is over."""

    action_id: str
    ok: bool
    detail: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of a node's history."""

    node: str
    seq: int
    at: float
    kind: str
    event: Json
    rule: str
    phase_before: Phase
    phase_after: Phase
    reason: str
    actions: tuple[Json, ...] = ()
    """Each with ``status`` and ``detail``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A check run: launched, and finished once ``verdict`` is there."""

    run_id: str
    node: str
    profile: str
    launched_at: float
    finished_at: float = 0.0
    verdict: str = ""
    seconds: float = 0.0
    report: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRow:
    """Something a person was told."""

    key: str
    text: str
    raised_at: float
    cleared_at: float = 0.0


class Store(Protocol):
    """Every method may raise StoreUnavailable."""

    def load(self, node: str) -> NodeState | None:
        """State of one node."""
        ...

    def states(self) -> list[NodeState]:
        """All states, by name."""
        ...

    def commit(self, changes: Sequence[Change]) -> list[Committed]:
        """Write changes (of different nodes), each guarded by its node's sequence number.

        Event, state, pending actions, the row of a launched or finished run and alerts go in one
        transaction. A change in conflict does not keep the others out.
        """
        ...

    def pending(self) -> list[Pending]:
        """Actions not settled yet, oldest first."""
        ...

    def tried(self, action_id: str, detail: str) -> None:
        """Note a try that has not settled the action."""
        ...

    def settle(self, settled: Sequence[Settled]) -> None:
        """These actions are over; in one transaction."""
        ...

    def timeline(self, node: str, limit: int = 200) -> list[Entry]:
        """The latest entries of one node, oldest first."""
        ...

    def runs(self, node: str = "", limit: int = 50) -> list[RunRow]:
        """The latest runs, newest first, without their reports."""
        ...

    def run(self, run_id: str) -> RunRow | None:
        """One run with its report."""
        ...

    def attempts_of(self, hardware: str) -> tuple[Attempt, ...]:
        """Repairs of this machine known under any node name."""
        ...

    def raise_alert(self, key: str, text: str, at: float) -> bool:
        """True if it was not open yet: one alert an episode."""
        ...

    def clear_alert(self, key: str, at: float) -> None:
        """The episode is over."""
        ...

    def alerts(self, *, open_only: bool = False, limit: int = 100) -> list[AlertRow]:
        """Newest first."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...


def open_store(url: str) -> Store:
    """``sqlite:///path``, another SQLAlchemy URL, or ``memory:``."""
    if url == "memory:":
        from greenroom.store.memory import MemoryStore  # noqa: PLC0415 - lazy by design

        return MemoryStore()
    from greenroom.store.sql import SqlStore  # noqa: PLC0415 - lazy: SQLAlchemy is slow to import

    return SqlStore(url)
