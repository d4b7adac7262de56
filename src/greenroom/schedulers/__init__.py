"""Schedulers behind one small protocol; back ends are chosen by name and imported lazily."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from greenroom.model.nodes import CheckJob, NodeView, Write, Written


class SchedulerUnavailable(Exception):
    """The scheduler did not answer, or not readably, in time. Says nothing about any node."""


class Scheduler(Protocol):
    """What the controller needs of a scheduler. Every call has a deadline of its own.

    Any method may raise SchedulerUnavailable; nothing is then known to be done or not done,
    and the next reading tells. Nothing here decides.
    """

    def nodes(self, owned: Mapping[str, str]) -> list[NodeView]:
        """All nodes. ``owned``: node -> hold id, the holds our store says are ours."""
        ...

    def apply(self, writes: Sequence[Write]) -> list[Written]:
        """Carry out the writes, in batches, and read back. One failing does not stop the others.

        HELD: nothing new starts; running jobs go on. QUARANTINED: only our check jobs start.
        FREE: undo what is ours and nothing else. A hold found to be somebody else's is left
        alone and reported with ``ok=False``.
        """
        ...

    def launch(self, job: CheckJob) -> str:
        """Start a check on a quarantined node; the scheduler's job id.

        Idempotent by ``run_id``: a job already started for it is found again, not started twice.
        """
        ...

    def cancel(self, run_id: str) -> None:
        """End the check job of a run, if there is one."""
        ...

    def reboot(self, node: str, reason: str) -> None:
        """Ask for a reboot of a node that is held and idle; it stays held afterwards."""
        ...

    def requeue_jobs(self, node: str, reason: str) -> list[str]:
        """Requeue the jobs of others running on the node; their ids."""
        ...


def open_scheduler(name: str, settings: Mapping[str, object]) -> Scheduler:
    """The back end called ``name`` (``slurm``, ``memory``). Raises ValueError for another name."""
    if name == "slurm":
        from greenroom.schedulers.slurm import SlurmScheduler  # noqa: PLC0415 - lazy by design

        return SlurmScheduler.from_settings(settings)
    if name == "memory":
        from greenroom.schedulers.memory import MemoryScheduler  # noqa: PLC0415 - lazy by design

        return MemoryScheduler()
    raise ValueError(f"scheduler {name!r} is none of: memory, slurm")
