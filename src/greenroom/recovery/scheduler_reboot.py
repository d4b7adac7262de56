"""Reboot through the scheduler. The policy sees from the boot time that it happened."""

from __future__ import annotations

from typing import Protocol

from greenroom.model.words import Rung
from greenroom.recovery import Progress, RepairState


class Reboots(Protocol):
    """What this provider needs of a scheduler."""

    def reboot(self, node: str, reason: str) -> None:
        """Ask for a reboot of a node that is held and idle."""
        ...


class SchedulerReboot:
    """See recovery.Provider. Asking twice is harmless: a node already rebooting is left to it."""

    def __init__(self, scheduler: Reboots) -> None:
        """Reboots through this scheduler."""
        self._scheduler = scheduler

    def offers(self) -> frozenset[Rung]:  # noqa: D102 - the protocol says it
        return frozenset({Rung.REBOOT})

    def start(self, *, action_id: str, node: str, rung: Rung, reason: str) -> RepairState:  # noqa: ARG002, D102
        self._scheduler.reboot(node, reason)
        return RepairState(progress=Progress.RUNNING, detail="reboot asked of the scheduler")

    def poll(self, *, action_id: str, node: str, rung: Rung) -> RepairState:  # noqa: ARG002, D102
        return RepairState(progress=Progress.RUNNING, detail="reboot asked of the scheduler")
