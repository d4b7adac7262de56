"""Matrix products on all devices at once: sustained speed, and whether every bit of every result is right.

Two kinds of data. *Random* numbers switch as many transistors as real work does; each result is compared
bitwise with the first on that device, and its digest with those of other devices. *Whole* numbers, so small
that every sum is exact in whatever order it is made, are compared bitwise with what the processor computes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from greenroom.workloads.devices import DEFAULTS as DEVICE_DEFAULTS
from greenroom.workloads.devices import (
    Device,
    bits_of,
    difference,
    digest,
    on_all,
    open_devices,
    runtime,
    together,
)
from greenroom.workloads.process import Unable, say
from greenroom.workloads.sampler import Sampler

PRECISIONS = ("fp32", "tf32", "bf16", "fp16", "fp8")
DEFAULTS: dict[str, Any] = {
    **DEVICE_DEFAULTS,
    "precisions": list(PRECISIONS),
    "size": 0,
    "seconds": 2.0,
    "sample_s": 1.0,
}
"""``size``: rows and columns; 0: 8192 on a GPU (DCGM and SuperBench use that, too), 256 on the processor.
``seconds``: of each precision: half for the speed, half for the data."""
GPU_SIZE, CPU_SIZE = 8192, 256
BATCH_S = 0.05
"""So much is asked of a device at a time."""
MAX_BATCH = 2000
FP8_FROM = (8, 9)
"""Compute capability (Ada, Hopper)."""
TF32_FROM = (8, 0)


def run(spec: dict[str, Any]) -> dict[str, Any]:
    """Speeds, wrong elements and digests, per device and precision."""
    if unknown := sorted(set(spec["precisions"]) - set(PRECISIONS)):
        raise Unable(f"precisions: no {', '.join(unknown)}; expected {', '.join(PRECISIONS)}")
    devices = open_devices(spec)
    torch = devices[0].torch
    size = int(spec["size"]) or (GPU_SIZE if devices[0].is_gpu else CPU_SIZE)
    data = _Data.make(torch, size, int(spec["seed"]))
    results: dict[str, dict[str, Any]] = {device.label: device.told() for device in devices}
    with Sampler(float(spec["sample_s"]), on=devices[0].is_gpu) as sampler:
        for precision in spec["precisions"]:
            say("progress", precision=precision, seconds=spec["seconds"])
            _set_precision(torch, precision)
            told = on_all(devices, lambda device, start, p=precision: _load(device, start, p, data, spec))  # type: ignore[misc]
            for label, one in told.items():
                results[label].setdefault("precisions", {})[precision] = _row(one)
    return {
        "size": size,
        "torch": torch.__version__,
        "runtime": runtime(torch),
        "devices": list(results.values()),
        "samples": sampler.told(),
    }


def _row(one: object) -> dict[str, Any]:
    return one if isinstance(one, dict) else {"broke": str(one)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    """On the processor: the same for every device."""

    random: tuple[Any, Any]
    whole: tuple[Any, Any]
    product: Any
    """Of the whole ones, exact."""

    @classmethod
    def make(cls, torch: ModuleType, size: int, seed: int) -> _Data:
        dice = torch.Generator().manual_seed(seed)
        left, right = (torch.randn(size, size, generator=dice) for _ in range(2))
        # From -2 to 2: exact in every precision, and so is their sum, far below 2^24 (and below 2^11,
        # where fp16 ends, but for one in 10^50). bf16 rounds the sum, to the nearest even everywhere.
        one, other = (torch.randint(-2, 3, (size, size), generator=dice).float() for _ in range(2))
        return cls(random=(left, right), whole=(one, other), product=one @ other)


@dataclass(slots=True)
class _Watch:
    """Counts what is wrong without making the device wait."""

    torch: ModuleType
    wrong: int = 0
    first: str = ""
    unlike: Any = None
    """Results so far that differ from the reference, as a tensor on the device."""
    results: int = 0

    def look(self, got: Any, want: Any) -> None:  # noqa: ANN401
        """Compare bits in the background."""
        odd = (got != want).any().int()
        self.unlike = odd if self.unlike is None else self.unlike + odd
        self.results += 1

    def settle(self, got: Any, want: Any) -> None:  # noqa: ANN401
        """Compare now, and say where."""
        wrong, first = difference(self.torch, got, want)
        self.results += 1
        self.wrong += wrong
        self.first = self.first or first


def _load(
    device: Device, start: threading.Barrier, precision: str, data: _Data, spec: dict[str, Any]
) -> dict[str, Any]:
    kind = _kind(device, precision)
    if isinstance(kind, str):
        together(start)
        return {"not_supported": kind}
    watch = _Watch(device.torch)
    exact = _Product(device, data.whole, kind)
    reference = exact.cast(data.product)
    watch.settle(exact.multiply(), reference)
    random = _Product(device, data.random, kind)
    first = random.multiply().clone()
    one_s = max(1e-6, min(random.timed(1) for _ in range(3)))
    batch = max(1, min(MAX_BATCH, int(BATCH_S / one_s)))
    together(start)
    seconds = float(spec["seconds"])
    took, times = 0.0, 0
    while took < seconds / 2:
        took += random.timed(batch)
        times += batch
    until = time.monotonic() + seconds / 2
    while time.monotonic() < until:
        for _ in range(batch):
            watch.look(*random.compared(first))
        device.wait()
    watch.settle(random.multiply(), first)
    watch.settle(exact.multiply(), reference)
    unlike = int(watch.unlike.item()) if watch.unlike is not None else 0
    return {
        "tflops": round(2 * random.size**3 * times / took / 1e12, 4),
        "times": times,
        "compared": watch.results,
        "wrong_results": unlike,
        "wrong": watch.wrong,
        "first_wrong": watch.first,
        "digest": digest(first),
    }


def _set_precision(torch: ModuleType, precision: str) -> None:
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    for name in ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction"):
        setattr(torch.backends.cuda.matmul, name, False)


def _kind(device: Device, precision: str) -> Any:  # noqa: ANN401 - torch.dtype, or why not
    torch = device.torch
    if precision not in ("tf32", "fp8"):
        return {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[precision]
    if not device.is_gpu:
        return "on GPUs only"
    able = torch.cuda.get_device_capability(device.at)
    if precision == "tf32":
        return torch.float32 if not torch.version.hip and able >= TF32_FROM else f"not on {device.name}"
    known = hasattr(torch, "_scaled_mm") and (able >= FP8_FROM or (torch.version.hip and able >= (9, 4)))
    if not known:
        return f"not on {device.name}"
    # MI300 has another encoding of it.
    return torch.float8_e4m3fnuz if torch.version.hip and able < (9, 5) else torch.float8_e4m3fn


class _Product:
    """One product, again and again."""

    def __init__(self, device: Device, pair: tuple[Any, Any], kind: Any) -> None:  # noqa: ANN401
        self.device, self.kind = device, kind
        torch = device.torch
        self.torch, self.size = torch, pair[0].shape[0]
        self.out_kind = torch.bfloat16 if str(kind).startswith("torch.float8") else kind
        left, right = (one.to(device.at).to(kind) for one in pair)
        self.multiply: Callable[[], Any]
        if self.out_kind is kind:
            self.out = torch.empty(self.size, self.size, dtype=kind, device=device.at)
            self.multiply = lambda: torch.mm(left, right, out=self.out)
        else:
            right = right.t().contiguous().t()  # column by column, as the instruction wants it
            one = torch.ones((), device=device.at)
            self.multiply = lambda: torch._scaled_mm(  # noqa: SLF001 - there is no public name for it
                left, right, scale_a=one, scale_b=one, out_dtype=self.out_kind
            )

    def cast(self, product: Any) -> Any:  # noqa: ANN401
        """What the exact product is in this precision."""
        return product.to(self.out_kind).to(self.device.at)

    def timed(self, times: int) -> float:
        """How long so many take, s."""
        self.device.wait()
        started = time.perf_counter()
        for _ in range(times):
            self.multiply()
        self.device.wait()
        return time.perf_counter() - started

    def compared(self, want: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """A result and what it must be, as bits."""
        return bits_of(self.torch, self.multiply()), bits_of(self.torch, want)
