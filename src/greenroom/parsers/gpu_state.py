"""What an NVIDIA GPU's readings mean, whichever form of nvidia-smi printed them.

The readings are a mapping from a path in lower snake case to the printed value:
``ecc_errors/volatile/dram_uncorrectable`` -> ``0``. The three forms name nearly the same words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from greenroom.parsers.notebook import Notebook
from greenroom.parsers.nvml_words import FAILED_READING, absent, find_error
from greenroom.parsers.texts import integer, pci_address

_YES = frozenset({"yes", "true", "1", "active"})
_UNCORRECTED = re.compile(r"uncorr|double_bit|_unc\b")
_FABRIC_STATUS = frozenset({"fabric/status", "fabric_status"})
_HARDWARE_SLOWDOWN = re.compile(r"hw_(?:slowdown|thermal_slowdown|power_brake(?:_slowdown)?)$")
_REASONS = re.compile(r"clocks_?(?:throttle|event)_?reasons?")
_FABRIC_FLAW = {
    "fabric/health/bandwidth": re.compile(r"degraded", re.IGNORECASE),
    "fabric/health/route_unhealthy": re.compile(r"true|yes", re.IGNORECASE),
    "fabric/health/route_recovery_in_progress": re.compile(r"true|yes", re.IGNORECASE),
    "fabric/health/access_timeout_recovery": re.compile(r"true|yes", re.IGNORECASE),
    "fabric/health/incorrect_configuration": re.compile(
        r"true|yes|mismatch|incorrect|exhausted", re.IGNORECASE
    ),
    "fabric/health/summary": re.compile(r"unhealthy|limited", re.IGNORECASE),
}
_RECOVERY = {
    "reset": "gpu.recovery.reset",
    "gpu_reset": "gpu.recovery.reset",
    "reboot": "gpu.recovery.reboot",
    "node_reboot": "gpu.recovery.reboot",
    "drain_p2p": "gpu.recovery.drain",
    "drain_and_reset": "gpu.recovery.drain",
}
_REASON_BITS = {
    0x8: "gpu.throttle.hw",
    0x40: "gpu.throttle.hw",
    0x80: "gpu.throttle.hw",
    0x20: "gpu.throttle.thermal",
}


@dataclass(slots=True)
class GpuState:
    """One GPU as a form of nvidia-smi shows it."""

    device: str = ""
    """PCI address or ``gpu:INDEX``."""
    name: str = ""
    uuid: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    where: dict[str, int] = field(default_factory=dict)
    """Line of each field."""

    def put(self, path: str, value: str, line: int) -> None:
        """Take in one reading; the first of a name counts."""
        if len(self.fields) < 5000:
            self.fields.setdefault(path, value)
            self.where.setdefault(path, line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """One reading that is not as it should be."""

    code: str
    path: str
    value: str
    count: int = 1


def note(book: Notebook, gpu: GpuState) -> None:
    """Write one GPU into the notebook: its flaws, or that it is well."""
    flaws = list(find_flaws(gpu.fields))
    seen: set[tuple[str, str]] = set()
    for flaw in flaws:
        key = (flaw.code, "" if flaw.code.startswith(("gpu.ecc", "gpu.throttle")) else flaw.path)
        if key in seen:
            continue  # totals repeat their parts
        seen.add(key)
        book.add(
            flaw.code,
            gpu.device,
            line=gpu.where.get(flaw.path, 0),
            evidence=f"{flaw.path}: {flaw.value}",
            errors=flaw.count if flaw.count > 1 else None,
            model=gpu.name,
            reading=flaw.path,
            value=flaw.value,
        )
    if not flaws and gpu.fields:
        book.ok()


def find_flaws(fields: Mapping[str, str]) -> Iterator[Flaw]:
    """All that is wrong in the readings of one GPU."""
    failed = []
    for path, value in fields.items():
        if path in _FABRIC_STATUS and not absent(value):
            yield from _fabric(
                path, value, fields
            )  # its "Unknown Error" is what it says, not a reading that failed
        elif FAILED_READING.search(value):
            failed.append((path, value))
        elif not absent(value):
            yield from _memory(path, value)
            yield from _slowed(path, value)
            yield from _fabric(path, value, fields)
            yield from _verdict(path, value)
    yield from _unreadable(failed)
    yield from _pcie_width(fields)


def _unreadable(failed: list[tuple[str, str]]) -> Iterator[Flaw]:
    # A lost GPU answers every question alike: one flaw, not sixty.
    codes: dict[str, tuple[str, str]] = {}
    for path, value in failed:
        error = find_error(value)
        code = error.code if error and error.code != "nvml.999" else "gpu.sensor.unreadable"
        codes.setdefault(code, (path, value))
    for code, (path, value) in codes.items():
        named = "nvml.999" if code == "gpu.sensor.unreadable" and len(failed) > 5 else code
        yield Flaw(code=named, path=path, value=value)


def _memory(path: str, value: str) -> Iterator[Flaw]:
    if "remap" in path:
        if path.endswith("pending") and value.lower() in _YES:
            yield Flaw(code="gpu.row_remap.pending", path=path, value=value)
        elif "failure" in path and value.lower() in _YES:
            yield Flaw(code="gpu.row_remap.failure", path=path, value=value)
        elif path.endswith(("histogram/none", "histogram_none")) and (integer(value) or 0) > 0:
            yield Flaw(code="gpu.row_remap.exhausted", path=path, value=value)
    elif "retire" in path or "page_blacklist" in path:
        if "pending" in path and value.lower() in _YES:
            yield Flaw(code="gpu.retired_pages.pending", path=path, value=value)
        elif ("count" in path or path.endswith("bit_ecc")) and (integer(value) or 0) >= 60:
            # 60 or more retired pages: the card is to be replaced (NVIDIA, dynamic page retirement)
            yield Flaw(code="gpu.retired_pages.many", path=path, value=value, count=integer(value) or 1)
    elif "repair_pending" in path and value.lower() in _YES:
        yield Flaw(code="gpu.repair.pending", path=path, value=value)
    elif "unrepairable_memory" in path and value.lower() in _YES:
        yield Flaw(code="gpu.memory.unrepairable", path=path, value=value)
    elif "threshold_exceeded" in path and value.lower() in _YES:
        yield Flaw(code="gpu.ecc.threshold", path=path, value=value)
    elif "ecc" in path and _UNCORRECTED.search(path):
        count = integer(value) or 0
        if count > 0:
            code = "gpu.ecc.uncorrectable" if "volatile" in path else "gpu.ecc.aggregate"
            yield Flaw(code=code, path=path, value=value, count=count)


def _slowed(path: str, value: str) -> Iterator[Flaw]:
    quoted = "/" not in path and _HARDWARE_SLOWDOWN.search(path)  # without the heading above it
    if (not _REASONS.search(path) and not quoted) or "counters" in path:
        return
    if value.lower() == "active":
        if _HARDWARE_SLOWDOWN.search(path):
            yield Flaw(code="gpu.throttle.hw", path=path, value=value)
        elif path.endswith("sw_thermal_slowdown"):
            yield Flaw(code="gpu.throttle.thermal", path=path, value=value)
    elif path.endswith("active") and value.lower().startswith("0x"):
        mask = integer(value) or 0
        for code in sorted({code for bit, code in _REASON_BITS.items() if mask & bit}):
            yield Flaw(code=code, path=path, value=value)


def _fabric(path: str, value: str, fields: Mapping[str, str]) -> Iterator[Flaw]:
    if path in {"fabric/state", "fabric_state"}:
        if value.lower() != "completed":
            yield Flaw(code="fabric.state." + value.lower().replace(" ", "_")[:40], path=path, value=value)
    elif path in _FABRIC_STATUS:
        # "Completed" only says that it is over; the status says how it ended.
        state = fields.get(path.replace("status", "state"), "")
        if value.lower() != "success" and state.lower() in {"completed", ""}:
            yield Flaw(code="fabric.status", path=path, value=value)
    elif path in _FABRIC_FLAW and _FABRIC_FLAW[path].search(value):
        yield Flaw(code="fabric.health." + path.rsplit("/", 1)[1], path=path, value=value)


def _verdict(path: str, value: str) -> Iterator[Flaw]:
    last = path.rsplit("/", 1)[-1]
    if last == "gpu_recovery_action":
        word = value.lower().replace(" ", "_")
        yield Flaw(code=_RECOVERY.get(word, "gpu.recovery.other"), path=path, value=value)
    elif last == "reset_required" and value.lower() in _YES:
        yield Flaw(code="gpu.reset_required", path=path, value=value)
    elif last == "drain_and_reset_recommended" and value.lower() in _YES:
        yield Flaw(code="gpu.recovery.drain", path=path, value=value)


def _pcie_width(fields: Mapping[str, str]) -> Iterator[Flaw]:
    # The generation drops when the GPU idles; the width does not.
    most = _width(fields, "max")
    now = _width(fields, "current")
    if most and now and now < most:
        path = next(path for path in fields if _is_width(path, "current"))
        yield Flaw(code="gpu.pcie.downgraded", path=path, value=f"x{now} of x{most}")


def _width(fields: Mapping[str, str], which: str) -> int:
    return next((integer(value) or 0 for path, value in fields.items() if _is_width(path, which)), 0)


def _is_width(path: str, which: str) -> bool:
    return (
        "link" in path
        and "width" in path
        and path.rsplit("/", 1)[-1].find(which) >= 0
        and "device" not in path
    )


def address_or_index(bus_id: str, index: str) -> str:
    """How the GPU is called: its PCI address, else its index."""
    return pci_address(bus_id) or (f"gpu:{index.strip()}" if index.strip().isdigit() else "")
