"""What NVIDIA's management library (NVML) says of the GPUs.

The library is called in a process of our own (``python -m greenroom.probes.nvml``), which can be
killed at a deadline: a call into a sick driver may never come back. Field meanings and return
codes: nvml.h. A field the library does not answer is None, and ``errors`` says why.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from greenroom.model.jsonish import Unreadable, from_json, to_json
from greenroom.probes.host import LAST_SAID, Host, ProbeUnavailable
from greenroom.probes.nvml_calls import CALLS, without_peer

LIBRARY = "libnvidia-ml.so.1"
LOST, RESET_REQUIRED, NOT_SUPPORTED = "lost", "reset required", "not supported"
_ERRORS = {
    3: NOT_SUPPORTED,
    4: "no permission",
    10: "timed out",
    13: NOT_SUPPORTED,
    15: LOST,
    16: RESET_REQUIRED,
}


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
    vbios: str | None = None
    inforom: str | None = None
    inforom_valid: bool | None = None
    gsp: str | None = None
    """Firmware of the GPU's system processor."""
    persistence: bool | None = None
    compute_mode: int | None = None
    """0 default, 1 exclusive thread, 2 prohibited, 3 exclusive process."""
    mig: bool | None = None
    recovery: int | None = None
    """What the driver asks for (nvmlGpuRecoveryAction, numbered by driver branch); 0: nothing."""
    ecc_enabled: bool | None = None
    ecc_volatile_uncorrected: int | None = None
    """Since the driver was loaded."""
    ecc_aggregate_uncorrected: int | None = None
    """Over the life of the GPU."""
    sram_uncorrected: int | None = None
    """In the caches, over the life of the GPU."""
    sram_exceeded: bool | None = None
    """More than the driver's own limit."""
    remapped_corrected: int | None = None
    remapped_uncorrected: int | None = None
    remap_pending: bool | None = None
    remap_failed: bool | None = None
    banks_without_spare: int | None = None
    banks_low: int | None = None
    """Memory banks with few spare rows."""
    retired_pages: int | None = None
    retired_pending: bool | None = None
    memory_total_mib: int | None = None
    memory_used_mib: int | None = None
    pcie_gen: int | None = None
    pcie_gen_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    pcie_replays: int | None = None
    clock_reasons: int | None = None
    """Bits of nvmlClocksEventReasons."""
    clock_max_mhz: int | None = None
    temperature_c: int | None = None
    temperature_shutdown_c: int | None = None
    temperature_slowdown_c: int | None = None
    memory_temperature_c: int | None = None
    slowed_by_heat_s: float | None = None
    """Since the driver was loaded; so is the next."""
    slowed_by_brake_s: float | None = None
    """The power brake is pulled by the power supply or the board."""
    power_w: float | None = None
    power_limit_w: float | None = None
    power_default_w: float | None = None
    nvlinks_up: int | None = None
    """NVLinks; on AMD, XGMI links."""
    nvlink_mbps: int | None = None
    """Of the slowest link that is up, Mbit/s as NVML has it."""
    nvlink_replays: int | None = None
    nvlink_recoveries: int | None = None
    nvlink_crc_errors: int | None = None
    unreachable: tuple[int, ...] | None = None
    """GPUs that it does not reach over NVLink, by index."""
    c2c_links: int | None = None
    """Links to the processor (Grace)."""
    c2c_up: int | None = None
    fabric_state: int | None = None
    """0 not part of one, 1 not started, 2 in progress, 3 completed."""
    fabric_status: int | None = None
    """NVML return code of a completed registration; 0: good."""
    fabric_health: int | None = None
    """Mask of nvmlGpuFabricInfo_v2_t."""
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
    cuda: str = ""
    """The newest CUDA version that the driver speaks."""


def read_with(host: Host, *, module: str, library: str, vendor: str, timeout_s: float) -> GpuFacts:
    """Ask a vendor's library in a child process that is given ``timeout_s``; the module prints GpuFacts."""
    argv = [sys.executable, "-P", "-m", module]
    try:
        ran = host.run(argv, timeout_s=timeout_s)
    except ProbeUnavailable as error:
        hung = "not back" in str(error)
        _, _, asked = str(error).partition(LAST_SAID)
        message = (
            f"{library} did not answer within {timeout_s:g} s{asked and ': '}{asked}" if hung else str(error)
        )
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
    asked = [_ask_gpu(pynvml, index) for index in range(count)]
    handles = {gpu.index: handle for gpu, handle in asked}
    gpus = _with_peers(pynvml, tuple(gpu for gpu, _ in asked), handles)
    return GpuFacts(driver=Driver.OK, version=version, gpus=gpus, cuda=_cuda(pynvml))


def _cuda(nvml: Any) -> str:  # noqa: ANN401 - a module without types
    """The newest CUDA that the driver speaks: 12080 -> 12.8."""
    try:
        number = int(nvml.nvmlSystemGetCudaDriverVersion_v2())
    except nvml.NVMLError:
        return ""
    return f"{number // 1000}.{number % 1000 // 10}"


def _ask_gpu(nvml: Any, index: int) -> tuple[Gpu, Any]:  # noqa: ANN401 - a module without types
    errors: dict[str, str] = {}
    values: dict[str, Any] = {}
    os.write(2, f"gpu{index} handle\n".encode())
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
    except nvml.NVMLError as error:
        return Gpu(index=index, errors={"handle": word(error)}), None
    for fields, call in CALLS.items():
        # Should this be the call that hangs, it is the last thing we said.
        os.write(2, f"gpu{index} {', '.join(fields)}\n".encode())
        try:
            values.update(zip(fields, call(nvml, handle), strict=True))
        except nvml.NVMLError as error:
            errors.update(dict.fromkeys(fields, word(error)))
        except AttributeError:  # a binding from before that call
            errors.update(dict.fromkeys(fields, NOT_SUPPORTED))
    return Gpu(index=index, errors=errors, **values), handle


def word(error: Any) -> str:  # noqa: ANN401 - of a module without types
    """What stands for a reading that an NVMLError came back for."""
    return _ERRORS.get(error.value, f"NVML error {error.value}: {error}")


def _with_peers(nvml: Any, gpus: tuple[Gpu, ...], handles: dict[int, Any]) -> tuple[Gpu, ...]:  # noqa: ANN401
    """Whether the GPUs that have NVLinks reach each other over them."""
    linked = {gpu.index: handles[gpu.index] for gpu in gpus if gpu.nvlinks_up}
    try:
        dead = without_peer(nvml, linked)
    except nvml.NVMLError as error:
        reason = {"unreachable": word(error)}
        return tuple(
            replace(gpu, errors={**gpu.errors, **reason}) if gpu.index in linked else gpu for gpu in gpus
        )
    return tuple(
        replace(gpu, unreachable=tuple(dead[gpu.index])) if gpu.index in dead else gpu for gpu in gpus
    )


if __name__ == "__main__":
    json.dump(to_json(ask_driver()), sys.stdout)
