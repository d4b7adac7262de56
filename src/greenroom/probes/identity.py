"""Which machine this is, and which boot of it."""

from __future__ import annotations

import re

from greenroom.model.results import Identity
from greenroom.probes.host import Host, ProbeUnavailable
from greenroom.probes.nvml import GpuFacts

BOOT_ID = "/proc/sys/kernel/random/boot_id"
# From the most to the least tied to the hardware (SMBIOS 3, types 1 and 2; machine-id(5)).
MACHINE = ("/sys/class/dmi/id/product_serial", "/sys/class/dmi/id/board_serial", "/etc/machine-id")
# What makers leave in the serial field when they write none: every such machine would look the same.
_PLACEHOLDER = re.compile(
    r"^$|to be filled|^none$|default string|not (specified|applicable|available)|system serial|^unknown$"
    r"|^[0\W]+$|^n/?a$|^0?123456789",
    re.IGNORECASE,
)


def read_identity(host: Host, gpus: GpuFacts) -> Identity:
    """Boot, machine and GPUs; what the machine does not say stays empty."""
    serials = (gpu.serial or gpu.uuid for gpu in gpus.gpus)
    return Identity(
        boot_id=read_boot_id(host),
        machine=next(filter(_is_real, (_first_line(host, path) for path in MACHINE)), ""),
        gpus=tuple(sorted(serial for serial in serials if serial)),
    )


def read_boot_id(host: Host) -> str:
    """Which boot this is; empty if the kernel does not say."""
    return _first_line(host, BOOT_ID)


def _is_real(serial: str) -> bool:
    return not _PLACEHOLDER.search(serial)


def _first_line(host: Host, path: str) -> str:
    try:
        return host.read(path).strip().split("\n", 1)[0].strip()
    except ProbeUnavailable:
        return ""
