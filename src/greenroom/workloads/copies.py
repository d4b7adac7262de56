"""Bandwidth of memory, of copies to and from the host and between GPUs, and how long a launch takes.

Copies are made by the copy engines (``cudaMemcpyAsync``, what nvbandwidth calls CE), copy and triad in memory
by the cores (SM): ``engine`` in each row says which, for the two do not compare.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from greenroom.workloads.devices import DEFAULTS as DEVICE_DEFAULTS
from greenroom.workloads.devices import Device, open_devices, runtime
from greenroom.workloads.process import first_line, say
from greenroom.workloads.sampler import Sampler

DEFAULTS: dict[str, Any] = {
    **DEVICE_DEFAULTS,
    "size_mib": 256,
    "times": 20,
    "launches": 200,
    "cool_c": 60.0,
    "cool_s": 0.0,
    "links": True,
}
"""``links``: also copies to and from the host and between GPUs.
``cool_s``: wait so long at most until no GPU is above ``cool_c``: heat slows memory and links."""
CE, SM = "copy engine", "cores"
STREAM_ARRAYS = 3


def run(spec: dict[str, Any]) -> dict[str, Any]:
    """One row a measurement: what, from where to where, engine, GB/s (10^9 bytes) or us."""
    devices = open_devices(spec)
    torch = devices[0].torch
    cooled_s = _cool_down(spec) if devices[0].is_gpu and spec["cool_s"] else 0.0
    rows: list[dict[str, Any]] = []
    for device in devices:
        say("progress", device=device.label)
        if device.is_gpu:
            torch.cuda.set_device(device.at)
        bench = _Bench(device, spec)
        links = (bench.to_and_from_host,) if spec["links"] else ()
        for measure in (bench.in_memory, *links, bench.launches):
            try:
                rows += measure()
            except Exception as error:  # noqa: BLE001 - the others are still worth measuring
                rows.append({"what": measure.__name__, "device": device.label, "broke": first_line(error)})
        device.forget()
    if spec["links"]:
        rows += _between(devices, spec)
    return {
        "size_mib": spec["size_mib"],
        "torch": torch.__version__,
        "runtime": runtime(torch),
        "cooled_s": round(cooled_s, 1),
        "devices": [device.told() for device in devices],
        "rows": rows,
    }


def _cool_down(spec: dict[str, Any]) -> float:
    started = time.monotonic()
    with Sampler(1.0, on=True) as sampler:
        while time.monotonic() - started < spec["cool_s"]:
            time.sleep(1.0)
            now = sampler.temperatures()
            if not now or max(now) <= spec["cool_c"]:
                break
    return time.monotonic() - started


class _Bench:
    def __init__(self, device: Device, spec: dict[str, Any]) -> None:
        self.device, self.spec, self.torch = device, spec, device.torch
        self.bytes = int(spec["size_mib"]) << 20
        self.times = int(spec["times"])

    def in_memory(self) -> list[dict[str, Any]]:
        """Copy (2 bytes moved a byte) and triad (3), as STREAM counts them."""
        count = self.bytes // 4
        one, two, three = (self.torch.ones(count, device=self.device.at) for _ in range(STREAM_ARRAYS))
        copy = self.speed(lambda: two.copy_(one), 2 * self.bytes)
        triad = self.speed(lambda: self.torch.add(two, three, alpha=0.5, out=one), 3 * self.bytes)
        return [self.row("memory_copy", SM, copy), self.row("memory_triad", SM, triad)]

    def to_and_from_host(self) -> list[dict[str, Any]]:
        """From pinned memory of each NUMA node, and back."""
        if not self.device.is_gpu:
            return []
        rows = []
        there = self.torch.empty(self.bytes, dtype=self.torch.uint8, device=self.device.at)
        own = _numa_of(self.device.pci)
        for node, cpus in _numa_nodes().items():
            with _on(cpus):
                here = self.torch.empty(self.bytes, dtype=self.torch.uint8, pin_memory=True)
                here.fill_(1)
                up, down = self.copying(here, there), self.copying(there, here)
            near = {"numa": node, "near": own in (-1, node)}
            rows += [self.row("h2d", CE, up, **near), self.row("d2h", CE, down, **near)]
        return rows

    def copying(self, source: Any, sink: Any) -> float:  # noqa: ANN401 - tensors
        """GB/s from one tensor to another."""
        return self.speed(lambda: sink.copy_(source, non_blocking=True), self.bytes)

    def launches(self) -> list[dict[str, Any]]:
        """From the call to its end, of a kernel that does next to nothing."""
        one = self.torch.zeros(1, device=self.device.at)
        took = []
        for _ in range(max(3, int(self.spec["launches"]))):
            self.device.wait()
            started = time.perf_counter()
            one.add_(0)
            self.device.wait()
            took.append(time.perf_counter() - started)
        told = {"what": "launch", "device": self.device.label, "us": round(statistics.median(took) * 1e6, 2)}
        return [told]

    def speed(self, move: Callable[[], object], size_bytes: int) -> float:
        """GB/s, median of so many times."""
        for _ in range(2):
            move()
        took = []
        for _ in range(max(3, self.times)):
            self.device.wait()
            started = time.perf_counter()
            move()
            self.device.wait()
            took.append(time.perf_counter() - started)
        return size_bytes / statistics.median(took) / 1e9

    def row(self, what: str, engine: str, speed: float, **more: object) -> dict[str, Any]:
        """One measurement."""
        told = {"what": what, "device": self.device.label, "engine": engine}
        return {**told, "gb_per_s": round(speed, 2), **more}


def _between(devices: list[Device], spec: dict[str, Any]) -> list[dict[str, Any]]:
    """From every GPU to every other; data that arrive are compared."""
    if len(devices) < 2 or not devices[0].is_gpu:
        return []
    say("progress", device="all pairs")
    rows = []
    for source in devices:
        bench, torch = _Bench(source, spec), source.torch
        out = _pattern(source, bench.bytes)
        for sink in devices:
            if sink is source:
                continue
            arrived = torch.zeros_like(out, device=sink.at)
            speed = bench.copying(out, arrived)
            sink.wait()
            wrong = int((arrived != _pattern(sink, bench.bytes)).sum().item())
            direct = torch.cuda.can_device_access_peer(source.at, sink.at)
            rows.append(bench.row("p2p", CE, speed, to=sink.label, direct=direct, wrong=wrong))
        source.forget()
    return rows


def _pattern(device: Device, size_bytes: int) -> Any:  # noqa: ANN401 - a tensor
    """Whole numbers that every device makes by itself: what arrives is compared where it arrives."""
    words = device.torch.arange(size_bytes // 8, dtype=device.torch.int64, device=device.at)
    return words * 0x5851F42D4C957F2D + 1  # Knuth's multiplier (MMIX); wraps around


def _numa_nodes() -> dict[int, set[int]]:
    """NUMA node -> its processors; one node of all where the kernel shows none."""
    nodes = {}
    for path in Path("/sys/devices/system/node").glob("node[0-9]*/cpulist"):
        cpus: set[int] = set()
        for part in filter(None, path.read_text().strip().split(",")):
            low, _, high = part.partition("-")
            cpus |= set(range(int(low), int(high or low) + 1))
        if cpus & os.sched_getaffinity(0):
            nodes[int(path.parent.name[4:])] = cpus
    return dict(sorted(nodes.items())) or {0: os.sched_getaffinity(0)}


def _numa_of(pci: str) -> int:
    """-1: the kernel does not say."""
    try:
        return int(Path(f"/sys/bus/pci/devices/{pci}/numa_node").read_text())
    except (OSError, ValueError):
        return -1


@contextlib.contextmanager
def _on(cpus: set[int]) -> Iterator[None]:
    """Memory that is touched first here lies on their node."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus & before or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
