"""Puts a workload on the GPUs of this node for the gpu_stress checks: not beside anybody's, nor for long."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Facts, NotApplicable, found
from greenroom.checks.gpus import answering, no_gpus
from greenroom.checks.optional import split_pairs
from greenroom.model.results import Finding, Json
from greenroom.probes.host import Host, ProbeUnavailable
from greenroom.probes.nvml import Gpu

OPERATIONS = ("all_reduce", "all_gather")
"""Of all ranks together, in the order they are tried."""

START_S, TOOL_START_S = 30.0, 60.0
"""Time for Python, PyTorch and the driver to start on a busy file system."""
EXPECTS = {"gpu.count", "stress.device", "stress.python", "stress.tools"}
REHEARSAL: Json = {
    "gemm": {"size": 256},
    "memory": {"max_mib": 32, "chunk_mib": 8},
    "copies": {"size_mib": 16},
}
"""On the processor: enough to see that all works."""
REHEARSAL_RANKS = 2


@dataclass(slots=True, kw_only=True)
class Load:
    """The GPUs of a node, free for us."""

    gpus: tuple[Gpu, ...]
    host: Host
    expected: Expected
    rehearsal: bool
    """The processor stands for the GPUs."""

    @classmethod
    def take(cls, facts: Facts, host: Host, expected: Expected) -> Load | NotApplicable:
        """The GPUs that answer, or why there is nothing to do.

        Raises:
            ProbeUnavailable: no GPU answers, or somebody works on one.
        """
        if reason := no_gpus(facts, expected):
            return reason
        gpus = answering(facts)
        for gpu in gpus:
            if gpu.processes:
                pids = ", ".join(map(str, gpu.processes[:5]))
                raise ProbeUnavailable(f"{gpu.label} is in use: process {pids}; nothing was started")
        device = expected["stress.device"].value
        if device not in ("gpu", "cpu"):
            raise ProbeUnavailable(f"stress.device: expected gpu or cpu, got {device!r:.40}")
        if device == "cpu":
            # Limits of the GPUs say nothing of the processor.
            known = expected.thresholds.items()
            expected = Expected(
                {name: replace(one, value=None) if name.startswith("gpu.") else one for name, one in known}
            )
        return cls(gpus=gpus, host=host, expected=expected, rehearsal=device == "cpu")

    def run(self, name: str, load_s: float, **spec: object) -> Json:
        """The result of a workload on all of them at once, its devices under our names.

        Raises:
            ProbeUnavailable: it has none, or it saw fewer GPUs than there are.
        """
        from greenroom.workloads.start import run_workload  # noqa: PLC0415 - only under load

        own = {**REHEARSAL[name], "cpu": len(self.gpus)} if self.rehearsal else {}
        deadline_s = load_s * 1.3 + START_S
        result = run_workload(self.host, name, {**spec, **own}, deadline_s=deadline_s, python=self.python)
        rows = result.get("devices")
        if not isinstance(rows, list) or not rows:
            raise ProbeUnavailable(f"{name}: a result without devices")
        if len(rows) != len(self.gpus):
            raise ProbeUnavailable(f"PyTorch sees {len(rows)} of {len(self.gpus)} GPUs")
        labels = {gpu.uuid: gpu.label for gpu in self.gpus if gpu.uuid}
        names = {row["device"]: labels.get(row.get("uuid", ""), row["device"]) for row in rows}
        return {**result, "names": names}

    def run_ranks(self, load_s: float, *, network_only: bool, size_mib: int) -> list[Json]:
        """The results of one rank a GPU, all of which do collectives together.

        Raises:
            ProbeUnavailable: a rank has none.
        """
        from greenroom.workloads.start import run_ranks  # noqa: PLC0415 - only under load

        world = REHEARSAL_RANKS if self.rehearsal else len(self.gpus)
        port = FIRST_PORT + int(self.host.now() * 1000) % PORTS
        spec = {
            "world": world,
            "address": f"127.0.0.1:{port}",
            "backend": "gloo" if self.rehearsal else "",
            "operations": OPERATIONS,
            "sizes_bytes": [(1 if self.rehearsal else size_mib) << 20],
            "seconds": load_s / 2,
            "network_only": network_only,
        }
        ranks = [{**spec, "rank": rank, "device": -1 if self.rehearsal else rank} for rank in range(world)]
        return run_ranks(self.host, "collective", ranks, deadline_s=load_s * 2 + START_S, python=self.python)

    @property
    def python(self) -> str:
        """The interpreter that has PyTorch; empty: ours."""
        return str(self.expected["stress.python"].value or "")

    def tool(self, name: str) -> str:
        """How a tool of the field is called here."""
        return split_pairs(self.expected.texts("stress.tools")).get(name, name)

    def comparable(self, result: Json, *more: object) -> str:
        """What must be the same for two figures to compare: GPU model, size, versions."""
        models = sorted({gpu.name or "" for gpu in self.gpus}) if not self.rehearsal else ["processor"]
        said = (*models, *more, f"torch {result.get('torch')}", result.get("runtime"))
        return "; ".join(str(word) for word in said if word)


FIRST_PORT, PORTS = 31500, 1000
_ROOM = ("out of memory", "alloc")


def broken(rows: Iterable[tuple[str, str]]) -> list[Finding]:
    """GPU and how work broke on it -> findings.

    Raises:
        ProbeUnavailable: it broke for want of memory, which says nothing of the GPU.
    """
    findings = []
    for subject, text in rows:
        if any(word in text.lower() for word in _ROOM):
            raise ProbeUnavailable(f"{subject}: {text}")
        findings.append(
            found("gpu.compute.broke", subject=subject, message=f"work on it broke: {text}", evidence=(text,))
        )
    return findings


def figures(rows: Iterable[tuple[str, str, float]]) -> dict[str, dict[str, float]]:
    """(figure, part, value) -> figure -> part -> value; names of figures end in their unit."""
    told: dict[str, dict[str, Any]] = {}
    for name, part, value in rows:
        told.setdefault(name, {})[part] = value
    return told
