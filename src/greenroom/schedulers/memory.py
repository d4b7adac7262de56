"""A scheduler in memory: the twin of the real ones for tests, benchmarks and simulation."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from greenroom.model.nodes import CheckJob, NodeView, Want, Write, Written
from greenroom.model.words import Rung, Standing
from greenroom.schedulers import SchedulerUnavailable


@dataclass(slots=True)
class MemoryNode:
    """What this scheduler knows of a node."""

    name: str
    boot: float = 1.0
    up: bool = True
    drained: str = ""
    """Reason of the drain; empty: not drained."""
    ours: bool = False
    """The drain (or the marker left of it) is ours."""
    reserved: bool = False
    jobs: list[str] = field(default_factory=list)
    our_jobs: dict[str, str] = field(default_factory=dict)
    """Run id -> job id."""
    asked: Rung | None = None
    asked_note: str = ""
    groups: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    gpus: int = 8


class MemoryScheduler:
    """See schedulers.Scheduler. Tests reach into ``cluster`` to play admins, jobs and faults."""

    def __init__(self, nodes: Sequence[MemoryNode] = ()) -> None:
        """With these nodes."""
        self.cluster = {node.name: node for node in nodes}
        self.launched: list[CheckJob] = []
        self.reboots: list[str] = []
        self.requeued: list[str] = []
        self.away = ""
        """Set to make every call fail with this text."""
        self._jobs = 0
        self._lock = threading.RLock()

    def nodes(self, owned: Mapping[str, str]) -> list[NodeView]:  # noqa: ARG002, D102 - the protocol says it
        self._answer()
        with self._lock:
            return [view_of(node) for node in self.cluster.values()]

    def apply(self, writes: Sequence[Write]) -> list[Written]:  # noqa: D102
        self._answer()
        with self._lock:
            return [self._write(write) for write in writes]

    def _write(self, write: Write) -> Written:
        node = self.cluster[write.node]
        foreign = bool(node.drained) and not node.ours
        if foreign and not write.adopt:
            return Written(write=write, ok=False, detail=f"held by somebody else: {node.drained}")
        if write.want is Want.HELD:
            node.drained, node.ours, node.reserved = write.reason, True, False
            node.asked = None
        elif write.want is Want.QUARANTINED:
            node.drained, node.ours, node.reserved = "", True, True
        else:
            if node.our_jobs:
                return Written(write=write, ok=False, detail="reservation in use")
            node.drained, node.ours, node.reserved = "", False, False
        return Written(write=write, ok=True)

    def launch(self, job: CheckJob) -> str:  # noqa: D102
        self._answer()
        with self._lock:
            node = self.cluster[job.node]
            if job.run_id in node.our_jobs:
                return node.our_jobs[job.run_id]
            if not node.reserved or node.drained or not node.up:
                raise SchedulerUnavailable(f"{job.node} is not quarantined")
            self._jobs += 1
            node.our_jobs[job.run_id] = str(self._jobs)
            self.launched.append(job)
            return str(self._jobs)

    def finish(self, run_id: str) -> None:
        """The check job of a run ends."""
        with self._lock:
            for node in self.cluster.values():
                node.our_jobs.pop(run_id, None)

    def cancel(self, run_id: str) -> None:  # noqa: D102
        self._answer()
        self.finish(run_id)

    def reboot(self, node: str, reason: str) -> None:  # noqa: ARG002, D102
        self._answer()
        with self._lock:
            self.reboots.append(node)
            self.cluster[node].boot += 1000.0
            self.cluster[node].our_jobs.clear()

    def requeue_jobs(self, node: str, reason: str) -> list[str]:  # noqa: ARG002, D102
        self._answer()
        with self._lock:
            ended, self.cluster[node].jobs = self.cluster[node].jobs, []
            self.requeued += ended
            return ended

    def _answer(self) -> None:
        if self.away:
            raise SchedulerUnavailable(self.away)


def view_of(node: MemoryNode) -> NodeView:
    """A reading of one node."""
    seen = NodeView(
        name=node.name,
        standing=Standing.FREE,
        jobs=tuple(node.jobs),
        our_jobs=tuple(node.our_jobs.values()),
        boot=node.boot,
        ours=node.ours,
        asked=node.asked,
        asked_note=node.asked_note,
        groups=node.groups,
        features=node.features,
        gpus=node.gpus,
    )
    if not node.up:
        return replace(seen, standing=Standing.UNAVAILABLE, note="down")
    if node.drained and not node.ours:
        return replace(seen, standing=Standing.FOREIGN, note=f"drained: {node.drained}")
    if node.drained:
        return replace(seen, standing=Standing.HELD)
    if node.reserved:
        return replace(seen, standing=Standing.QUARANTINED)
    return replace(seen, marked=node.ours)
