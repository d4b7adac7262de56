"""One rank of a collective test: data are checked, then bandwidth, latency and stalls are measured.

The same code on CUDA and ROCm (NCCL, RCCL) and on the CPU (gloo).
"""

from __future__ import annotations

import datetime as dt
import os
import statistics
import time
from types import ModuleType
from typing import Any

from greenroom.workloads.busbw import FACTORS, busbw_gb_per_s
from greenroom.workloads.counters import Counters
from greenroom.workloads.devices import runtime
from greenroom.workloads.process import Unable, first_line, load_torch, say

DEFAULTS: dict[str, Any] = {
    "rank": 0,
    "world": 1,
    "address": "127.0.0.1:29500",
    "backend": "",
    "device": -1,
    "operations": ["all_reduce"],
    "sizes_bytes": [16 << 20],
    "seconds": 2.0,
    "latency_tests": 100,
    "interface": "",
    "adapter": "",
    "network_only": False,
    "reach_s": 20.0,
    "reply_s": 15.0,
    "deadline_s": 120.0,
    "seed": 1,
}
"""``device``: GPU; -1: by the rank on this node, or the CPU. ``seconds``: of each operation and size.
``network_only``: no shared memory and no peer access, so that ranks of one node talk over its adapters.
``reach_s``: for all ranks to meet; ``reply_s``: for one operation."""
TRIES, MIN_TIMES, MAX_TIMES = 5, 5, 100_000
STALL_S = 0.3
STALL_TIMES = 10.0
"""An operation is a stall if it takes longer than both."""
LATENCY_BYTES = 8


def run(spec: dict[str, Any]) -> dict[str, Any]:
    """Meet the other ranks and measure. Not to reach them is a result; no PyTorch or device is not."""
    unknown = sorted(set(spec["operations"]) - set(FACTORS))
    if unknown:
        raise Unable(f"operations: no {', '.join(unknown)}; expected {', '.join(FACTORS)}")
    counters = Counters.read()
    torch, device, failed = join(spec)
    if failed:
        return failed
    built = {"torch": torch.__version__, "runtime": runtime(torch)}
    rows: list[dict[str, Any]] = []
    try:
        rank = _Rank(torch, device, spec)
        for operation in spec["operations"]:
            for size in spec["sizes_bytes"]:
                rows.append(rank.measure(operation, int(size)))  # noqa: PERF401 - rows so far are told on error
        latency = rank.latency_us()
    except Exception as error:  # noqa: BLE001
        return {"reached": True, **built, "broke": first_line(error), "rows": rows, **counters.change()}
    torch.distributed.destroy_process_group()
    return {"reached": True, **built, "rows": rows, **latency, **counters.change()}


def join(spec: dict[str, Any]) -> tuple[ModuleType, Any, dict[str, Any]]:
    """Meet the other ranks: PyTorch, this rank's device, and the result if they did not meet.

    Raises:
        Unable: PyTorch or the device is not there.
    """
    if spec["world"] < 2 or not 0 <= spec["rank"] < spec["world"]:
        raise Unable(f"rank {spec['rank']} of {spec['world']}: expected two ranks or more, counted from 0")
    _set_network(spec)
    torch = load_torch()
    device = _device(torch, spec)
    backend = spec["backend"] or ("nccl" if device.type == "cuda" else "gloo")
    say("hello", device=str(device), backend=backend, torch=torch.__version__)
    started = time.monotonic()
    try:
        _meet(torch, spec, backend)
    except Exception as error:  # noqa: BLE001 - TCPStore and gloo raise several kinds
        waited_s = round(time.monotonic() - started, 1)
        return torch, device, {"reached": False, "why": first_line(error), "waited_s": waited_s}
    return torch, device, {}


def _set_network(spec: dict[str, Any]) -> None:
    """Settings that NCCL and gloo read from the environment, before they are loaded."""
    if spec["interface"]:
        os.environ["NCCL_SOCKET_IFNAME"] = os.environ["GLOO_SOCKET_IFNAME"] = spec["interface"]
    if spec["adapter"]:
        os.environ["NCCL_IB_HCA"] = spec["adapter"]
    if spec["network_only"]:
        os.environ["NCCL_P2P_DISABLE"] = os.environ["NCCL_SHM_DISABLE"] = "1"


def _device(torch: ModuleType, spec: dict[str, Any]) -> Any:  # noqa: ANN401 - torch.device
    count = torch.cuda.device_count()
    if spec["device"] >= 0 and spec["device"] >= count:
        raise Unable(f"GPU {spec['device']} is asked for, PyTorch sees {count}")
    if not count or spec["backend"] == "gloo":
        # All ranks of a node share its processors, and several nodes may share one machine in a lab.
        torch.set_num_threads(1)
        return torch.device("cpu")
    device = torch.device("cuda", spec["device"] if spec["device"] >= 0 else spec["rank"] % count)
    torch.cuda.set_device(device)
    return device


def _meet(torch: ModuleType, spec: dict[str, Any], backend: str) -> None:
    host, _, port = spec["address"].rpartition(":")
    reach, reply = (dt.timedelta(seconds=float(spec[name])) for name in ("reach_s", "reply_s"))
    store = torch.distributed.TCPStore(
        host, int(port), spec["world"], spec["rank"] == 0, timeout=reach, wait_for_workers=True
    )
    torch.distributed.init_process_group(
        backend, store=store, rank=spec["rank"], world_size=spec["world"], timeout=reply
    )
    _first_words(torch, spec)


def _first_words(torch: ModuleType, spec: dict[str, Any]) -> None:
    """The first operation opens the connections between the ranks: what fails here is the way."""
    device = "cuda" if torch.distributed.get_backend() == "nccl" else "cpu"
    torch.distributed.all_reduce(torch.ones(spec["world"], device=device))


class _Rank:
    def __init__(self, torch: ModuleType, device: Any, spec: dict[str, Any]) -> None:  # noqa: ANN401
        self.torch, self.device, self.spec = torch, device, spec
        self.rank, self.world = int(spec["rank"]), int(spec["world"])

    def measure(self, operation: str, size_bytes: int) -> dict[str, Any]:
        """Check, measure for the time asked, check again."""
        count = max(self.world, size_bytes // 4 // self.world * self.world)
        wrong, first = self._check(operation, count)
        buffers = self._buffers(operation, count, lambda _: self.torch.zeros(count, device=self.device))
        one_s = statistics.median(self._timed(operation, buffers) for _ in range(TRIES))
        times = self._agree(int(min(MAX_TIMES, max(MIN_TIMES, self.spec["seconds"] / max(one_s, 1e-6)))))
        say("progress", operation=operation, bytes=count * 4, times=times)
        took = [self._timed(operation, buffers) for _ in range(times)]
        again, first_again = self._check(operation, count)
        middle = statistics.median(took)
        stalls = [seconds for seconds in took if seconds > STALL_S and seconds > STALL_TIMES * middle]
        return {
            "operation": operation,
            "bytes": count * 4,
            "ranks": self.world,
            "times": times,
            "busbw_gb_per_s": round(busbw_gb_per_s(operation, count * 4, sum(took) / times, self.world), 4),
            "busbw_median_gb_per_s": round(busbw_gb_per_s(operation, count * 4, middle, self.world), 4),
            "p50_ms": round(middle * 1e3, 4),
            "p99_ms": round(_percentile(took, 0.99) * 1e3, 4),
            "max_ms": round(max(took) * 1e3, 4),
            "stalls": len(stalls),
            "stalled_s": round(sum(stalls), 3),
            "wrong": wrong + again,
            "first_wrong": first or first_again,
        }

    def latency_us(self) -> dict[str, Any]:
        """Of the smallest all-reduce, us."""
        tests = int(self.spec["latency_tests"])
        if tests < 1:
            return {}
        small = [self.torch.zeros(LATENCY_BYTES // 4, device=self.device)]
        took = [self._timed("all_reduce", small) for _ in range(tests)]
        return {
            "latency_p50_us": round(statistics.median(took) * 1e6, 1),
            "latency_p99_us": round(_percentile(took, 0.99) * 1e6, 1),
        }

    def _agree(self, times: int) -> int:
        """As often as rank 0 says."""
        told = self.torch.tensor([times], device=self.device)
        self.torch.distributed.broadcast(told, 0)
        return int(told.item())

    def _timed(self, operation: str, buffers: list[Any]) -> float:
        self._wait()
        started = time.perf_counter()
        self._do(operation, buffers)
        self._wait()
        return time.perf_counter() - started

    def _wait(self) -> None:
        if self.device.type == "cuda":
            self.torch.cuda.synchronize(self.device)

    def _do(self, operation: str, buffers: list[Any]) -> None:
        both = self.torch.distributed
        match operation:
            case "all_reduce":
                both.all_reduce(buffers[0])
            case "broadcast":
                both.broadcast(buffers[0], 0)
            case "all_gather":
                both.all_gather_into_tensor(buffers[0], buffers[1])
            case "reduce_scatter":
                both.reduce_scatter_tensor(buffers[1], buffers[0])
            case _:
                both.all_to_all_single(buffers[0], buffers[1])

    def _buffers(self, operation: str, count: int, fill: Any) -> list[Any]:  # noqa: ANN401
        """``fill(rank)`` is that rank's whole input; the buffers in the order in which `_do` takes them."""
        torch, part = self.torch, count // self.world
        mine = fill(self.rank)
        match operation:
            case "all_gather":
                return [torch.empty(count, device=self.device), mine[:part].contiguous()]
            case "reduce_scatter":
                return [mine, torch.empty(part, device=self.device)]
            case "all_to_all":
                return [torch.empty(count, device=self.device), mine]
        return [mine]

    def _check(self, operation: str, count: int) -> tuple[int, str]:
        """Numbers that differ from what they must be, and the first; sums of these are exact in fp32."""
        buffers = self._buffers(operation, count, lambda rank: self._pattern(rank, count))
        self._do(operation, buffers)
        self._wait()
        part = count // self.world
        ranks = range(self.world)
        match operation:
            case "all_reduce":
                got, want = buffers[0], sum(self._pattern(rank, count) for rank in ranks)
            case "broadcast":
                got, want = buffers[0], self._pattern(0, count)
            case "all_gather":
                got = buffers[0]
                want = self.torch.cat([self._pattern(rank, count)[:part] for rank in ranks])
            case "reduce_scatter":
                own = slice(self.rank * part, (self.rank + 1) * part)
                got, want = buffers[1], sum(self._pattern(rank, count)[own] for rank in ranks)
            case _:
                own = slice(self.rank * part, (self.rank + 1) * part)
                got = buffers[0]
                want = self.torch.cat([self._pattern(rank, count)[own] for rank in ranks])
        bad = (got != want).nonzero()
        if not len(bad):
            return 0, ""
        index = int(bad[0].item())
        return len(bad), f"element {index}: got {got[index].item():g}, expected {want[index].item():g}"

    def _pattern(self, rank: int, count: int) -> Any:  # noqa: ANN401 - a tensor
        """Whole numbers below 251, other for every rank and place."""
        index = self.torch.arange(count, device=self.device)
        return ((index * 7 + index // 251 * 3 + rank * 101 + int(self.spec["seed"])) % 251).float()


def _percentile(values: list[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
