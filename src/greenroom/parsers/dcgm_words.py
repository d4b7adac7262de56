"""DCGM's error names and phrases -> its error id (dcgm_errors.h: ids have only ever been appended)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from greenroom.parsers.texts import slug

NAMES = {
    "PCI_REPLAY_RATE": 3,
    "VOLATILE_DBE_DETECTED": 4,
    "VOLATILE_SBE_DETECTED": 5,
    "PENDING_PAGE_RETIREMENTS": 6,
    "RETIRED_PAGES_LIMIT": 7,
    "RETIRED_PAGES_DBE_LIMIT": 8,
    "CORRUPT_INFOROM": 9,
    "CLOCK_THROTTLE_THERMAL": 10,
    "CLOCKS_EVENT_THERMAL": 10,
    "POWER_UNREADABLE": 11,
    "CLOCK_THROTTLE_POWER": 12,
    "CLOCKS_EVENT_POWER": 12,
    "NVLINK_ERROR_THRESHOLD": 13,
    "NVLINK_DOWN": 14,
    "NVSWITCH_FATAL_ERROR": 15,
    "NVSWITCH_NON_FATAL_ERROR": 16,
    "NVSWITCH_DOWN": 17,
    "DEVICE_COUNT_MISMATCH": 20,
    "CANNOT_OPEN_LIB": 22,
    "DENYLISTED_DRIVER": 23,
    "NVML_LIB_BAD": 24,
    "GRAPHICS_PROCESSES": 25,
    "HOSTENGINE_CONN": 26,
    "BAD_CUDA_ENV": 28,
    "PERSISTENCE_MODE": 29,
    "LOW_BANDWIDTH": 30,
    "HIGH_LATENCY": 31,
    "FIELD_VIOLATION": 33,
    "THERMAL_VIOLATIONS": 40,
    "THERMAL_VIOLATIONS_TS": 41,
    "TEMP_VIOLATION": 42,
    "THROTTLING_VIOLATION": 43,
    "CLOCKS_EVENT_VIOLATION": 43,
    "INTERNAL": 44,
    "PCIE_GENERATION": 45,
    "PCIE_WIDTH": 46,
    "ABORTED": 47,
    "TEST_DISABLED": 48,
    "STRESS_LEVEL": 50,
    "CUDA_API": 51,
    "FAULTY_MEMORY": 52,
    "ECC_DISABLED": 55,
    "MEMORY_ALLOC": 56,
    "CUDA_DBE": 57,
    "MEMORY_MISMATCH": 58,
    "CUDA_DEVICE": 59,
    "ECC_PENDING": 61,
    "MEMORY_BANDWIDTH": 62,
    "TARGET_POWER": 63,
    "API_FAIL": 64,
    "API_FAIL_GPU": 65,
    "CUDA_CONTEXT": 66,
    "DCGM_API": 67,
    "NVLINK_CRC_ERROR_THRESHOLD": 70,
    "NVLINK_ERROR_CRITICAL": 71,
    "ENFORCED_POWER_LIMIT": 72,
    "MEMORY_ALLOC_HOST": 73,
    "L1TAG_MISCOMPARE": 79,
    "ROW_REMAP_FAILURE": 80,
    "UNCONTAINED_ERROR": 81,
    "DBE_PENDING_PAGE_RETIREMENTS": 83,
    "UNCORRECTABLE_ROW_REMAP": 84,
    "PENDING_ROW_REMAP": 85,
    "BROKEN_P2P_MEMORY_DEVICE": 86,
    "BROKEN_P2P_WRITER_DEVICE": 87,
    "NVSWITCH_NVLINK_DOWN": 88,
    "EUD_TEST_FAILED": 95,
    "PCIE_H_REPLAY_VIOLATION": 98,
    "GPU_EXPECTED_NVLINKS_UP": 99,
    "NVSWITCH_EXPECTED_NVLINKS_UP": 100,
    "XID_ERROR": 101,
    "CUDA_FM_NOT_INITIALIZED": 108,
    "SXID_ERROR": 109,
    "GFLOPS_THRESHOLD_VIOLATION": 110,
    "NAN_VALUE": 111,
    "FABRIC_MANAGER_TRAINING_ERROR": 112,
    "TEST_SKIPPED": 117,
    "SRAM_THRESHOLD": 118,
    "NVLINK_EFFECTIVE_BER_THRESHOLD": 119,
    "FALLEN_OFF_BUS": 120,
    "NVLINK_SYMBOL_BER_THRESHOLD": 121,
    "IMEX_UNHEALTHY": 122,
    "FABRIC_PROBE_STATE": 123,
    "GPU_RECOVERY_RESET": 125,
    "GPU_RECOVERY_REBOOT": 126,
    "GPU_RECOVERY_DRAIN_P2P": 127,
    "GPU_RECOVERY_DRAIN_RESET": 128,
    "NCCL_ERROR": 129,
    "CONTAINED_ERROR": 131,
    "UNCORRECTABLE_ROW_REMAP_LIMIT": 132,
}
"""After ``DCGM_FR_``."""
# Phrases of the messages, for texts that carry no id (DCGM 3.2 and older, logs). First match counts.
_PHRASES: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), error_id)
    for pattern, error_id in (
        (r"fallen off the bus", 120),
        (r"clocks? (?:event|throttl\w+) due to (?:a )?thermal", 10),
        (r"clocks? (?:event|throttl\w+) due to (?:a )?power", 12),
        (r"row[- ]remap\w* fail|fail\w* to remap|remap\w* failure", 80),
        (r"(?:pending|had) (?:a )?(?:row remap|uncorrectable memory errors)|row remap\w* pending", 85),
        (r"uncorrectable (?:memory )?errors? (?:and|that) .*remap", 84),
        (r"uncontained", 81),
        (r"pending page retirement|page retirements? (?:is|are) pending", 6),
        (r"double[- ]bit", 4),
        (r"nvlink.{0,40}\bdown\b|links? (?:is|are) down", 14),
        (r"thermal violations?", 40),
        (r"persistence mode", 29),
        (r"inforom", 9),
        (r"pcie? replay", 3),
        (r"pcie link width|link width", 46),
        (r"imex", 122),
        (r"memory mismatch", 58),
        (r"\bxid\b", 101),
    )
)
CAN_BE_ABSENT = frozenset({"dcgm.14", "dcgm.46", "dcgm.99"})
"""Reports about parts that some models do not have."""
SAYS_ABSENT = re.compile(
    r"NOT[_ ]SUPPORTED|by design|no (?:nvlink )?bridge|not fitted|false positive|has no nvlink", re.IGNORECASE
)
_NAME = re.compile(r"\bDCGM_FR_([A-Z0-9_]{2,60})")
_GPU = re.compile(r"\bGPU(?:\s*ID)?\s*[:#]?\s*(\d{1,3})\b(?!:\d)", re.IGNORECASE)


def find_names(line: str) -> Iterator[tuple[str, str]]:
    """Each ``DCGM_FR_...`` in the line: (code, name). A name of a newer DCGM keeps its name in the code."""
    for found in _NAME.finditer(line):
        name = found[1].rstrip("_")
        yield f"dcgm.{NAMES.get(name, slug(name))}", name


def find_phrase(message: str) -> str:
    """The code of a message by its words, or empty."""
    for code, _ in find_names(message):
        return code
    return next((f"dcgm.{error_id}" for pattern, error_id in _PHRASES if pattern.search(message)), "")


def find_gpu(message: str) -> str:
    """``gpu:2`` if the message names a GPU, else empty."""
    found = _GPU.search(message)
    return f"gpu:{found[1]}" if found else ""
