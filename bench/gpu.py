"""Products, memory, copies and collectives on all GPUs, one table. Called by gpu.sh, which bounds its time.

Usage: gpu.py [--cpu N]   (N parts of the processor instead of GPUs: the code is tried, no speed is meant)
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table

from greenroom.model.figures import median
from greenroom.probes.host import LocalHost, ProbeUnavailable
from greenroom.workloads.start import run_ranks, run_workload

Row = tuple[str, str, float]
"""Figure with its unit, the part it was measured on, the value."""
ADDRESS = "127.0.0.1:31499"
OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter")


def gemm(cpu: int) -> Iterator[Row]:
    """50 s: 10 s a precision."""
    spec = {"cpu": cpu, "seconds": 0.4 if cpu else 10.0}
    for one in run_workload(LocalHost(), "gemm", spec, deadline_s=120)["devices"]:
        for precision, row in one["precisions"].items():
            if "tflops" in row:
                yield f"{precision} TFLOP/s", one["device"], row["tflops"]
                yield f"{precision} wrong results", one["device"], row["wrong"] + row["wrong_results"]


def memory(cpu: int) -> Iterator[Row]:
    """60 s, or less if all patterns are done."""
    spec = {"cpu": cpu, "seconds": 60.0} | ({"max_mib": 16, "chunk_mib": 4} if cpu else {})
    for one in run_workload(LocalHost(), "memory", spec, deadline_s=110)["devices"]:
        if "gb_per_s" in one:
            yield "memory patterns GB/s", one["device"], one["gb_per_s"]
            yield "memory GiB tested", one["device"], one["tested_bytes"] / (1 << 30)
            yield "memory wrong words", one["device"], one["wrong"]


def copies(cpu: int) -> Iterator[Row]:
    """Bandwidths and launch latency."""
    spec = {"cpu": cpu} | ({"size_mib": 16, "times": 5} if cpu else {})
    for row in run_workload(LocalHost(), "copies", spec, deadline_s=90)["rows"]:
        to = f"-{row['to']}" if "to" in row else f" numa{row['numa']}" if "numa" in row else ""
        if "gb_per_s" in row:
            yield f"{row['what']} GB/s", row["device"] + to, row["gb_per_s"]
        elif "us" in row:
            yield "launch us", row["device"], row["us"]


def collectives(cpu: int, world: int) -> Iterator[Row]:
    """One rank a GPU; bus bandwidth as nccl-tests define it."""
    spec = {"world": world, "address": ADDRESS, "operations": OPERATIONS, "seconds": 1.0 if cpu else 4.0}
    spec |= {"backend": "gloo", "sizes_bytes": [1 << 20]} if cpu else {"sizes_bytes": [1 << 30]}
    ranks = [{**spec, "rank": rank, "device": -1 if cpu else rank} for rank in range(world)]
    for rank, one in enumerate(run_ranks(LocalHost(), "collective", ranks, deadline_s=90)):
        for row in one.get("rows", ()):
            yield f"{row['operation']} busbw GB/s", f"rank{rank}", row["busbw_median_gb_per_s"]
        if "latency_p50_us" in one:
            yield "all_reduce of 8 bytes us", f"rank{rank}", one["latency_p50_us"]


def main() -> int:
    """One table; 1 if a part of it could not be measured."""
    cpu = int(sys.argv[2]) if sys.argv[1:2] == ["--cpu"] else 0
    console, started = Console(), time.monotonic()
    figures: dict[str, list[tuple[str, float]]] = defaultdict(list)
    missing: list[str] = []
    devices: set[str] = set()
    for name, measure in (
        ("gemm", gemm),
        ("memory", memory),
        ("copies", copies),
        ("collective", collectives),
    ):
        if name == "collective" and len(devices) < 2:
            missing.append(f"{name}: {len(devices)} device, a collective needs two")
            continue
        console.print(f"[dim]{time.monotonic() - started:5.0f} s  {name}[/]")
        more: Any = {"world": len(devices)} if name == "collective" else {}
        try:
            for figure, part, value in measure(cpu, **more):
                figures[figure].append((part, value))
                devices |= {part} if name == "gemm" else set()
        except ProbeUnavailable as error:
            missing.append(str(error))
    table = Table("FIGURE", "MIN", "AT", "MEDIAN", "MAX", "OF", box=None)
    for figure, values in figures.items():
        at, least = min(values, key=lambda one: one[1])
        every = [value for _, value in values]
        table.add_row(
            figure, f"{least:.4g}", at, f"{median(every):.4g}", f"{max(every):.4g}", str(len(every))
        )
    console.print(table)
    for text in missing:
        console.print(f"not measured: {text}", markup=False)
    console.print(f"{time.monotonic() - started:.0f} s in all")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
