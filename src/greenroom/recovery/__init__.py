"""Recovery providers behind one small protocol, idempotent by action id."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from greenroom.model.words import Rung


class ProviderUnavailable(Exception):
    """The provider did not answer, or not readably: tried again, nothing is concluded."""


class Progress(StrEnum):
    """How far a repair is."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    """The provider will not do it (no spare, no contract): try the next rung."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairState:
    """A provider's answer to start or poll."""

    progress: Progress
    detail: str = ""


class Provider(Protocol):
    """Carries out one rung. ``start`` twice with one action id starts once.

    Either call may raise ProviderUnavailable (or SchedulerUnavailable).
    """

    def offers(self) -> frozenset[Rung]:
        """The rungs this provider can carry out."""
        ...

    def start(self, *, action_id: str, node: str, rung: Rung, reason: str) -> RepairState:
        """Begin, or find the one already begun."""
        ...

    def poll(self, *, action_id: str, node: str, rung: Rung) -> RepairState:
        """How far it is."""
        ...
