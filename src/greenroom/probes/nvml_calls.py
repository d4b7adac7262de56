"""Which call of NVML answers which readings of a GPU (nvml.h; field ids: nvmlFieldValue_t).

A call that this driver or this binding does not have is "not supported", as one that the model lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

MAX_NVLINKS = 18  # NVML_NVLINK_MAX_LINKS
INVALID_ARGUMENT, NOT_SUPPORTED_CODE, CORRUPTED_INFOROM = 2, 3, 14
VOLATILE, AGGREGATE, UNCORRECTED = 0, 1, 1
MEMORY_TEMPERATURE, NVLINK_SPEED, C2C_LINKS, C2C_STATUS, RECOVERY = 82, 164, 170, 171, 230
SLOWED_BY_HEAT, SLOWED_BY_BRAKE = 75, 271  # PERF_POLICY_THERMAL, CLOCKS_EVENT_REASON_HW_POWER_BRAKE
DL_REPLAY, DL_RECOVERY, DL_CRC = 161, 162, 163
NVLINK_CAPABILITY = 2  # nvmlGpuP2PCapsIndex_t
MIB = 1024**2
Answer = tuple[Any, ...]
Call = Callable[[Any, Any], Answer]


def _one(name: str, *args: Any) -> Call:  # noqa: ANN401 - of a module without types
    return lambda nvml, handle: (getattr(nvml, name)(handle, *args),)


def _yes_no(name: str) -> Call:
    return lambda nvml, handle: (bool(getattr(nvml, name)(handle)),)


def _first_is_on(name: str) -> Call:
    """The first of two answers: how it is now; the second: how it will be after a reset."""
    return lambda nvml, handle: (bool(getattr(nvml, name)(handle)[0]),)


def _text(name: str) -> Call:
    def ask(nvml: Any, handle: Any) -> Answer:  # noqa: ANN401
        said = getattr(nvml, name)(handle)
        return (said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said),)

    return ask


def _watts(name: str) -> Call:
    return lambda nvml, handle: (getattr(nvml, name)(handle) / 1000,)


def _pci(nvml: Any, handle: Any) -> Answer:  # noqa: ANN401
    return (str(nvml.nvmlDeviceGetPciInfo(handle).busId).lower(),)


def _remapped(nvml: Any, handle: Any) -> Answer:  # noqa: ANN401
    corrected, uncorrected, pending, failed = nvml.nvmlDeviceGetRemappedRows(handle)
    return int(corrected), int(uncorrected), bool(pending), bool(failed)


def _banks(nvml: Any, handle: Any) -> Answer:  # noqa: ANN401
    histogram = nvml.nvmlDeviceGetRowRemapperHistogram(handle)
    return int(histogram.none), int(histogram.low)


def _sram(nvml: Any, handle: Any) -> Answer:  # noqa: ANN401
    status = nvml.c_nvmlEccSramErrorStatus_v1_t()
    status.version = nvml.nvmlEccSramErrorStatus_v1
    nvml.nvmlDeviceGetSramEccErrorStatus(handle, nvml.byref(status))
    return int(status.aggregateUncParity + status.aggregateUncSecDed), bool(status.bThresholdExceeded)


def _retired(nvml: Any, handle: Any) -> Answer:  # noqa: ANN401
    """Causes: 0 = several corrected errors, 1 = one uncorrected error."""
    return (sum(len(nvml.nvmlDeviceGetRetiredPages(handle, cause)) for cause in (0, 1)),)


def _inforom(nvml: Any, handle: Any) -> Answer:  # noqa: ANN401
    try:
        nvml.nvmlDeviceValidateInforom(handle)
    except nvml.NVMLError as error:
        if error.value != CORRUPTED_INFOROM:
            raise
        return (False,)
    return (True,)


def _memory(nvml: Any, handle: Any) -> Answer:  # noqa: ANN401
    info = nvml.nvmlDeviceGetMemoryInfo(handle)
    return int(info.total) // MIB, int(info.used) // MIB


def _fabric(nvml: Any, handle: Any) -> Answer:  # noqa: ANN401
    info = nvml.c_nvmlGpuFabricInfo_v2_t()
    info.version = nvml.nvmlGpuFabricInfo_v2
    nvml.nvmlDeviceGetGpuFabricInfoV(handle, nvml.byref(info))
    return int(info.state), int(info.status), int(info.healthMask)


def _links_up(nvml: Any, handle: Any) -> list[int]:  # noqa: ANN401
    """Links that are up; the first link that does not exist ends the search, the very first one raises."""
    up = []
    for link in range(MAX_NVLINKS):
        try:
            if nvml.nvmlDeviceGetNvLinkState(handle, link) == 1:
                up.append(link)
        except nvml.NVMLError as error:
            if link == 0 or error.value not in (INVALID_ARGUMENT, NOT_SUPPORTED_CODE):
                raise
            break
    return up


def _nvlinks(nvml: Any, handle: Any) -> Answer:  # noqa: ANN401
    return (len(_links_up(nvml, handle)),)


def _nvlink_speed(nvml: Any, handle: Any) -> Answer:  # noqa: ANN401
    """Of the slowest link that is up; 0: none is."""
    speeds = _fields(nvml, handle, [(NVLINK_SPEED, link) for link in _links_up(nvml, handle)])
    return (min(speeds, default=0),)


def _nvlink_errors(nvml: Any, handle: Any) -> Answer:  # noqa: ANN401
    links = _links_up(nvml, handle)
    return tuple(
        sum(_fields(nvml, handle, [(field, link) for link in links]))
        for field in (DL_REPLAY, DL_RECOVERY, DL_CRC)
    )


def _c2c(nvml: Any, handle: Any) -> Answer:  # noqa: ANN401
    (links,) = _fields(nvml, handle, [(C2C_LINKS, 0)])
    return links, sum(_fields(nvml, handle, [(C2C_STATUS, link) for link in range(links)]))


def _seconds(number: int) -> Call:
    """Of a field that counts nanoseconds."""
    return lambda nvml, handle: tuple(ns / 1e9 for ns in _fields(nvml, handle, [(number, 0)]))


def _field(number: int) -> Call:
    return lambda nvml, handle: tuple(_fields(nvml, handle, [(number, 0)]))


def _fields(nvml: Any, handle: Any, asked: list[tuple[int, int]]) -> list[int]:  # noqa: ANN401
    """Values of fields (id, scope), all unsigned. Raises NVMLError for the first that has none."""
    if not asked:
        return []
    values = []
    for field in nvml.nvmlDeviceGetFieldValues(handle, asked):
        if field.nvmlReturn:
            raise nvml.NVMLError(field.nvmlReturn)
        values.append(int(field.value.uiVal if field.valueType == 1 else field.value.ullVal))
    return values


CALLS: Mapping[tuple[str, ...], Call] = {
    ("uuid",): _text("nvmlDeviceGetUUID"),
    ("serial",): _text("nvmlDeviceGetSerial"),
    ("name",): _text("nvmlDeviceGetName"),
    ("pci",): _pci,
    ("vbios",): _text("nvmlDeviceGetVbiosVersion"),
    ("inforom",): _text("nvmlDeviceGetInforomImageVersion"),
    ("inforom_valid",): _inforom,
    ("gsp",): _text("nvmlDeviceGetGspFirmwareVersion"),
    ("persistence",): _yes_no("nvmlDeviceGetPersistenceMode"),
    ("compute_mode",): _one("nvmlDeviceGetComputeMode"),
    ("mig",): _first_is_on("nvmlDeviceGetMigMode"),
    ("recovery",): _field(RECOVERY),
    ("ecc_enabled",): _first_is_on("nvmlDeviceGetEccMode"),
    ("ecc_volatile_uncorrected",): _one("nvmlDeviceGetTotalEccErrors", UNCORRECTED, VOLATILE),
    ("ecc_aggregate_uncorrected",): _one("nvmlDeviceGetTotalEccErrors", UNCORRECTED, AGGREGATE),
    ("sram_uncorrected", "sram_exceeded"): _sram,
    ("remapped_corrected", "remapped_uncorrected", "remap_pending", "remap_failed"): _remapped,
    ("banks_without_spare", "banks_low"): _banks,
    ("retired_pages",): _retired,
    ("retired_pending",): _yes_no("nvmlDeviceGetRetiredPagesPendingStatus"),
    ("memory_total_mib", "memory_used_mib"): _memory,
    ("pcie_gen",): _one("nvmlDeviceGetCurrPcieLinkGeneration"),
    ("pcie_gen_max",): _one("nvmlDeviceGetMaxPcieLinkGeneration"),
    ("pcie_width",): _one("nvmlDeviceGetCurrPcieLinkWidth"),
    ("pcie_width_max",): _one("nvmlDeviceGetMaxPcieLinkWidth"),
    ("pcie_replays",): _one("nvmlDeviceGetPcieReplayCounter"),
    # The older name of the call is in every driver
    ("clock_reasons",): _one("nvmlDeviceGetCurrentClocksThrottleReasons"),
    ("clock_max_mhz",): _one("nvmlDeviceGetMaxClockInfo", 1),  # of the SMs
    ("temperature_c",): _one("nvmlDeviceGetTemperature", 0),
    ("temperature_shutdown_c",): _one("nvmlDeviceGetTemperatureThreshold", 0),
    ("temperature_slowdown_c",): _one("nvmlDeviceGetTemperatureThreshold", 1),
    ("memory_temperature_c",): _field(MEMORY_TEMPERATURE),
    ("slowed_by_heat_s",): _seconds(SLOWED_BY_HEAT),
    ("slowed_by_brake_s",): _seconds(SLOWED_BY_BRAKE),
    ("power_w",): _watts("nvmlDeviceGetPowerUsage"),
    ("power_limit_w",): _watts("nvmlDeviceGetEnforcedPowerLimit"),
    ("power_default_w",): _watts("nvmlDeviceGetPowerManagementDefaultLimit"),
    ("nvlinks_up",): _nvlinks,
    ("nvlink_mbps",): _nvlink_speed,
    ("nvlink_replays", "nvlink_recoveries", "nvlink_crc_errors"): _nvlink_errors,
    ("c2c_links", "c2c_up"): _c2c,
    ("fabric_state", "fabric_status", "fabric_health"): _fabric,
    ("processes",): lambda nvml, handle: (
        [process.pid for process in nvml.nvmlDeviceGetComputeRunningProcesses(handle)],
    ),
}
"""The readings that a call answers -> the call."""


def without_peer(nvml: Any, handles: Mapping[int, Any]) -> dict[int, list[int]]:  # noqa: ANN401
    """GPU -> the GPUs that it cannot reach over NVLink, of those that the driver says anything about."""
    dead: dict[int, list[int]] = {index: [] for index in handles}
    for index, handle in handles.items():
        for other, peer in handles.items():
            if index < other and nvml.nvmlDeviceGetP2PStatus(handle, peer, NVLINK_CAPABILITY):
                dead[index].append(other)
                dead[other].append(index)
    return dead
