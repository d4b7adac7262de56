"""What AMD's management library (AMD SMI) says of the GPUs, in the same words as NVML's readings.

It is called in a process of our own (``python -m greenroom.probes.amd``), as the NVML is. The binding
that ROCm installs beside its library fits it and comes first; else the package ``amdsmi``. Statuses and
field meanings: amdsmi.h (ROCm 7.0).
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from greenroom.model.jsonish import to_json
from greenroom.probes.nvml import NOT_SUPPORTED, Driver, Gpu, GpuFacts

MODULE = "greenroom.probes.amd"
LIBRARIES = ("libamd_smi.so", "/opt/rocm/lib/libamd_smi.so")
ROCM_BINDING = "/opt/rocm/share/amd_smi"
_DRIVER = {34: Driver.NOT_LOADED, 51: Driver.NOT_LOADED, 4: Driver.LIBRARY_MISSING, 20: Driver.NOT_LOADED}
_ERRORS = {2: NOT_SUPPORTED, 3: NOT_SUPPORTED, 40: NOT_SUPPORTED, 10: "no permission", 8: "timed out"}
_GENERATIONS = {2500: 1, 5000: 2, 8000: 3, 16000: 4, 32000: 5, 64000: 6}
"""PCI Express MT/s -> generation."""
_RESERVED, _PENDING, _UNRESERVABLE = 0, 1, 2  # amdsmi_memory_page_status_t
# Violations of AMD's in the bits of nvmlClocksEventReasons.
_REASONS = {
    "active_ppt_pwr": 0x04,
    "active_socket_thrm": 0x20,
    "active_hbm_thrm": 0x20,
    "active_prochot_thrm": 0x40,
    "active_vr_thrm": 0x40,
}
_IDLE = 0x01


def ask_driver() -> GpuFacts:
    """Ask AMD SMI in this process; only for the child, since a call may hang."""
    import ctypes  # noqa: PLC0415 - for the child alone

    problems = []
    for library in LIBRARIES:  # the binding itself prints, and ends in a KeyError
        try:
            ctypes.CDLL(library)
            break
        except OSError as error:
            problems.append(str(error))
    else:
        return GpuFacts(driver=Driver.LIBRARY_MISSING, message=f"AMD SMI: {problems[0]}")
    sys.path.insert(0, ROCM_BINDING)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            import amdsmi  # noqa: PLC0415 - lazily, the start-up rule
    except (ImportError, AttributeError, KeyError, OSError) as error:
        return GpuFacts(driver=Driver.BINDING_MISSING, message=f"amdsmi: {error!r}")
    try:
        amdsmi.amdsmi_init()
        handles = amdsmi.amdsmi_get_processor_handles()
        version = str(amdsmi.amdsmi_get_gpu_driver_info(handles[0])["driver_version"]) if handles else ""
    except amdsmi.AmdSmiLibraryException as error:
        driver = _DRIVER.get(error.get_error_code(), Driver.FAILED)
        return GpuFacts(driver=driver, message=f"AMD SMI: {_said(error)}")
    gpus = tuple(_ask_gpu(amdsmi, index, handle) for index, handle in enumerate(handles))
    return GpuFacts(driver=Driver.OK, version=version, gpus=gpus)


def _ask_gpu(smi: Any, index: int, handle: Any) -> Gpu:  # noqa: ANN401 - a module without types
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for call, fields in CALLS.items():
        try:
            answer = call(smi, handle)
        except smi.AmdSmiLibraryException as error:
            reason = _ERRORS.get(error.get_error_code(), f"AMD SMI: {_said(error)}")
            errors.update(dict.fromkeys(fields, reason))
        except AttributeError:  # a binding from before that call
            errors.update(dict.fromkeys(fields, NOT_SUPPORTED))
        except (KeyError, ValueError, TypeError) as error:  # a binding that answers otherwise
            errors.update(dict.fromkeys(fields, f"amdsmi: {error!r:.80}"))
        else:
            values.update(zip(fields, answer, strict=True))
    silent = errors.get("pci", NOT_SUPPORTED)
    if silent != NOT_SUPPORTED and not values:
        return Gpu(index=index, errors={"handle": silent})
    for name in Gpu.__dataclass_fields__:
        if name not in values and name not in ("index", "errors"):
            errors.setdefault(name, NOT_SUPPORTED)
    return Gpu(index=index, errors=errors, **values)


def _said(error: Any) -> str:  # noqa: ANN401 - of a module without types
    return str(error.get_error_info(detailed=False))


def _pages(smi: Any, handle: Any) -> tuple[int, bool, bool]:  # noqa: ANN401
    """Retired pages; whether some wait for a reset; whether some could not be retired or the GPU is full."""
    pages = [int(page["status"]) for page in smi.amdsmi_get_gpu_bad_page_info(handle) or ()]
    full = False
    with contextlib.suppress(smi.AmdSmiLibraryException, AttributeError):
        full = 0 < smi.amdsmi_get_gpu_bad_page_threshold(handle) <= len(pages)
    return pages.count(_RESERVED), _PENDING in pages, full or _UNRESERVABLE in pages


def _pcie(smi: Any, handle: Any) -> tuple[int | None, int | None, int | None, int | None]:  # noqa: ANN401
    info = smi.amdsmi_get_pcie_info(handle)
    now, best = info["pcie_metric"], info["pcie_static"]
    return (
        _GENERATIONS.get(now["pcie_speed"]),
        _GENERATIONS.get(best["max_pcie_speed"]),
        now["pcie_width"],
        best["max_pcie_width"],
    )


def clock_reasons(violations: Mapping[str, Any], busy_percent: object) -> int:
    """Violations that are active now, as the bits of nvmlClocksEventReasons; idle where nothing runs."""
    bits = _IDLE if busy_percent == 0 else 0
    for name, bit in _REASONS.items():
        if violations.get(name) is True:  # "N/A" where the model has no such sensor
            bits |= bit
    return bits


def _reasons(smi: Any, handle: Any) -> tuple[int]:  # noqa: ANN401
    busy = smi.amdsmi_get_gpu_activity(handle)["gfx_activity"]
    return (clock_reasons(smi.amdsmi_get_violation_status(handle), busy),)


def _one(name: str, smi: Any, handle: Any) -> tuple[Any]:  # noqa: ANN401
    return (getattr(smi, name)(handle),)


CALLS: Mapping[Callable[[Any, Any], tuple[Any, ...]], tuple[str, ...]] = {
    lambda smi, handle: (smi.amdsmi_get_gpu_device_bdf(handle).lower(),): ("pci",),
    partial(_one, "amdsmi_get_gpu_device_uuid"): ("uuid",),
    lambda smi, handle: tuple(
        map(smi.amdsmi_get_gpu_asic_info(handle).get, ("market_name", "asic_serial"))
    ): ("name", "serial"),
    lambda smi, handle: (smi.amdsmi_get_gpu_total_ecc_count(handle)["uncorrectable_count"],): (
        "ecc_volatile_uncorrected",
    ),
    _pages: ("retired_pages", "retired_pending", "remap_failed"),
    _pcie: ("pcie_gen", "pcie_gen_max", "pcie_width", "pcie_width_max"),
    _reasons: ("clock_reasons",),
    lambda smi, handle: (
        smi.amdsmi_get_temp_metric(
            handle, smi.AmdSmiTemperatureType.HOTSPOT, smi.AmdSmiTemperatureMetric.CURRENT
        ),
    ): ("temperature_c",),
    lambda smi, handle: (smi.amdsmi_get_gpu_xgmi_link_status(handle)["status"].count("U"),): ("nvlinks_up",),
    lambda smi, handle: ([one["pid"] for one in smi.amdsmi_get_gpu_process_list(handle)],): ("processes",),
}
"""A call -> the readings of Gpu that it answers."""

if __name__ == "__main__":
    json.dump(to_json(ask_driver()), sys.stdout)
