"""What NVIDIA's tools say in words when NVML returns an error -> code.

Four things stay apart: "Not Supported" and "N/A" (the model has no such thing: nothing), "ERR!" and
"Unknown Error" (it has, and reading it failed), "GPU is lost" and "requires reset" (the GPU is gone).
Words: nvmlErrorString and nvidia-smi; numbers: nvmlReturn_t in nvml.h.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from greenroom.parsers.texts import pci_address

LOST = "gpu.lost"
UNKNOWN = "nvml.999"
UNREADABLE = "gpu.sensor.unreadable"

# Longest first where one holds another. The pattern is searched in lower case.
_WORDS: tuple[tuple[str, str], ...] = (
    ("gpu is lost", LOST),
    ("gpu access blocked by the operating system", "nvml.17"),
    ("gpu requires reset", "gpu.reset_required"),
    ("requires a reset", "gpu.reset_required"),
    ("reset required", "gpu.reset_required"),
    ("driver/library version mismatch", "gpu.driver.mismatch"),
    ("driver not loaded", "gpu.driver.absent"),
    ("couldn't communicate with the nvidia driver", "gpu.driver.absent"),
    ("couldn't find libnvidia-ml", "gpu.driver.absent"),
    ("nvml shared library not found", "gpu.driver.absent"),
    ("no devices were found", "gpu.missing"),
    ("corrupted inforom", "nvml.14"),
    ("inforom is corrupted", "nvml.14"),
    ("insufficient external power", "nvml.8"),
    ("insufficient power", "nvml.8"),
    ("interrupt request issue", "nvml.11"),
    ("gpu not found", "nvml.28"),
    ("insufficient permissions", "nvml.4"),
    ("insufficient resources", "nvml.23"),
    ("unknown error", UNKNOWN),
)
_HANDLE = re.compile(r"device handle for (?:gpu)? ?([0-9a-f]{2,8}:[0-9a-f:.]{3,12}|\d+)", re.IGNORECASE)
_INDEX = re.compile(r"\bGPU ?#?(\d{1,3})\b(?!:\d)")
_ABSENT = frozenset({"n/a", "[n/a]", "not supported", "[not supported]", "", "-", "none", "unknown"})
FAILED_READING = re.compile(
    r"\bERR!|\[?Unknown Error\]?|\[?GPU is lost\]?|\[?GPU requires reset\]?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NvmlError:
    """An error return in words."""

    code: str
    device: str = ""


def absent(value: str) -> bool:
    """Whether the value says that there is no such reading on this model."""
    return value.strip().lower() in _ABSENT


def find_error(line: str) -> NvmlError | None:
    """The error that the line reports, with the GPU it names."""
    lower = line.lower()
    for words, code in _WORDS:
        if words in lower:
            return NvmlError(code=code, device=_device(line))
    if "device handle for" in lower:
        return NvmlError(code=UNKNOWN, device=_device(line))
    return None


def _device(line: str) -> str:
    if address := pci_address(line):
        return address
    if found := _HANDLE.search(line):
        named = found[1].rstrip(":.").lower()
        # A mistyped address stays as it is written: better than another GPU's.
        return f"gpu:{named}" if named.isdigit() else named
    index = _INDEX.search(line)
    return f"gpu:{index[1]}" if index else ""
