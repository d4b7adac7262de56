"""What NVIDIA's management library (NVML) says of the GPUs.

The library is called in a process of our own (``python -m greenroom.probes.nvml``), which can be
killed at a deadline: a call into a sick driver may never come back. Field meanings and return
codes: nvml.h. A field the library does not answer is None, and ``errors`` says why.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any

from greenroom.model.jsonish import Unreadable, from_json, to_json
from greenroom.probes.host import Host, ProbeUnavailable

LIBRARY = "libnvidia-ml.so.1"
MAX_NVLINKS = 18  # NVML_NVLINK_MAX_LINKS
LOST, RESET_REQUIRED, NOT_SUPPORTED = "lost", "reset required", "not supported"
_ERRORS = {3: NOT_SUPPORTED, 4: "no permission", 13: NOT_SUPPORTED, 15: LOST, 16: RESET_REQUIRED}


class Driver(StrEnum):
    """How far the driver could be asked at all."""

    OK = "ok"
    BINDING_MISSING = "binding missing"
    """The Python package nvidia-ml-py is not installed."""
    LIBRARY_MISSING = "library missing"
    NOT_LOADED = "driver not loaded"
    MISMATCH = "version mismatch"
    HUNG = "hung"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU. Counters are counts; temperature in °C; PCIe width in lanes."""

    index: int
    uuid: str | None = None
    serial: str | None = None
    name: str | None = None
    pci: str | None = None
    ecc_enabled: bool | None = None
    ecc_volatile_uncorrected: int | None = None
    """Since the driver was loaded."""
    ecc_aggregate_uncorrected: int | None = None
    """Over the life of the GPU."""
    remapped_corrected: int | None = None
    remapped_uncorrected: int | None = None
    remap_pending: bool | None = None
    remap_failed: bool | None = None
    retired_pages: int | None = None
    retired_pending: bool | None = None
    pcie_gen: int | None = None
    pcie_gen_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    clock_reasons: int | None = None
    """Bits of nvmlClocksEventReasons."""
    temperature_c: int | None = None
    nvlinks_up: int | None = None
    processes: tuple[int, ...] | None = None
    """Process ids of the host."""
    errors: dict[str, str] = field(default_factory=dict)
    """Field -> why it is None; ``handle``: the GPU as a whole."""

    @property
    def trouble(self) -> str:
        """``lost`` or ``reset required`` if any answer said so, else empty."""
        return next((word for word in (LOST, RESET_REQUIRED) if word in self.errors.values()), "")

    @property
    def label(self) -> str:
        """How findings call it."""
        return f"gpu{self.index}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuFacts:
    """All GPUs as one reading shows them."""

    driver: Driver
    vendor: str = "nvidia"
    message: str = ""
    """Why the driver is not ``ok``."""
    version: str = ""
    """Driver version."""
    gpus: tuple[Gpu, ...] = ()


def read_with(host: Host, *, module: str, library: str, vendor: str, timeout_s: float) -> GpuFacts:
    """Ask a vendor's library in a child process that is given ``timeout_s``; the module prints GpuFacts."""
    argv = [sys.executable, "-P", "-m", module]
    try:
        ran = host.run(argv, timeout_s=timeout_s)
    except ProbeUnavailable as error:
        hung = "not back" in str(error)
        message = f"{library} did not answer within {timeout_s:g} s" if hung else str(error)
        return GpuFacts(driver=Driver.HUNG if hung else Driver.FAILED, vendor=vendor, message=message)
    try:
        return replace(from_json(GpuFacts, json.loads(ran.stdout)), vendor=vendor)
    except (ValueError, Unreadable) as error:
        said = ran.stderr.strip().splitlines()[-1:] or [str(error)]
        message = f"{library} reader ended with {ran.rc}: {said[0]:.200}"
        return GpuFacts(driver=Driver.FAILED, vendor=vendor, message=message)


def ask_driver() -> GpuFacts:
    """Ask NVML in this process; only for the child, since a call may hang."""
    import ctypes  # noqa: PLC0415 - for the child alone

    try:
        # The same question pynvml asks first; its import takes ten times as long as a bare interpreter.
        ctypes.CDLL(LIBRARY)
    except OSError as error:
        return GpuFacts(driver=Driver.LIBRARY_MISSING, message=f"NVML: {error}")
    try:
        import pynvml  # noqa: PLC0415 - lazily, the start-up rule
    except ImportError as error:
        return GpuFacts(driver=Driver.BINDING_MISSING, message=str(error))
    try:
        pynvml.nvmlInit()
        count = pynvml.nvmlDeviceGetCount()
        version = str(pynvml.nvmlSystemGetDriverVersion())
    except pynvml.NVMLError as error:
        driver = {9: Driver.NOT_LOADED, 12: Driver.LIBRARY_MISSING, 18: Driver.MISMATCH}.get(error.value)
        return GpuFacts(driver=driver or Driver.FAILED, message=f"NVML: {error}")
    gpus = tuple(_ask_gpu(pynvml, index) for index in range(count))
    return GpuFacts(driver=Driver.OK, version=version, gpus=gpus)


def _ask_gpu(nvml: Any, index: int) -> Gpu:  # noqa: ANN401 - a module without types
    errors: dict[str, str] = {}

    def ask(name: str, call: Callable[[], Any]) -> Any:  # noqa: ANN401
        try:
            return call()
        except nvml.NVMLError as error:
            errors[name] = _ERRORS.get(error.value, f"NVML: {error}")
            return None

    handle = ask("handle", lambda: nvml.nvmlDeviceGetHandleByIndex(index))
    if handle is None:
        return Gpu(index=index, errors=errors)
    values = {name: ask(name, partial(call, nvml, handle)) for name, call in _CALLS.items()}
    values |= dict(zip(_REMAP, values.pop("remap") or (None,) * 4, strict=True))
    if "remap" in errors:
        reason = errors.pop("remap")
        errors.update(dict.fromkeys(_REMAP, reason))
    return Gpu(index=index, errors=errors, **values)


_REMAP = ("remapped_corrected", "remapped_uncorrected", "remap_pending", "remap_failed")


def _remapped(nvml: Any, handle: Any) -> tuple[int, int, bool, bool]:  # noqa: ANN401
    corrected, uncorrected, pending, failed = nvml.nvmlDeviceGetRemappedRows(handle)
    return int(corrected), int(uncorrected), bool(pending), bool(failed)


def _nvlinks_up(nvml: Any, handle: Any) -> int:  # noqa: ANN401
    """Links that are up; the first link that does not exist ends the count, the very first one raises."""
    up = 0
    for link in range(MAX_NVLINKS):
        try:
            up += nvml.nvmlDeviceGetNvLinkState(handle, link) == 1
        except nvml.NVMLError as error:
            if link == 0 or error.value not in (2, 3):  # invalid argument, not supported
                raise
            break
    return up


_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "uuid": lambda n, h: str(n.nvmlDeviceGetUUID(h)),
    "serial": lambda n, h: str(n.nvmlDeviceGetSerial(h)),
    "name": lambda n, h: str(n.nvmlDeviceGetName(h)),
    "pci": lambda n, h: str(n.nvmlDeviceGetPciInfo(h).busId).lower(),
    "ecc_enabled": lambda n, h: bool(n.nvmlDeviceGetEccMode(h)[0]),
    "ecc_volatile_uncorrected": lambda n, h: n.nvmlDeviceGetTotalEccErrors(h, 1, 0),
    "ecc_aggregate_uncorrected": lambda n, h: n.nvmlDeviceGetTotalEccErrors(h, 1, 1),
    "remap": _remapped,
    # Causes: 0 = several corrected errors, 1 = one uncorrected error
    "retired_pages": lambda n, h: sum(len(n.nvmlDeviceGetRetiredPages(h, cause)) for cause in (0, 1)),
    "retired_pending": lambda n, h: bool(n.nvmlDeviceGetRetiredPagesPendingStatus(h)),
    "pcie_gen": lambda n, h: n.nvmlDeviceGetCurrPcieLinkGeneration(h),
    "pcie_gen_max": lambda n, h: n.nvmlDeviceGetMaxPcieLinkGeneration(h),
    "pcie_width": lambda n, h: n.nvmlDeviceGetCurrPcieLinkWidth(h),
    "pcie_width_max": lambda n, h: n.nvmlDeviceGetMaxPcieLinkWidth(h),
    # The older name of the call is in every driver
    "clock_reasons": lambda n, h: n.nvmlDeviceGetCurrentClocksThrottleReasons(h),
    "temperature_c": lambda n, h: n.nvmlDeviceGetTemperature(h, 0),
    "nvlinks_up": _nvlinks_up,
    "processes": lambda n, h: [process.pid for process in n.nvmlDeviceGetComputeRunningProcesses(h)],
}

if __name__ == "__main__":
    json.dump(to_json(ask_driver()), sys.stdout)
