"""GPUs of any vendor: which library to ask follows from what the PCI bus shows.

Another vendor is one more module that prints GpuFacts, and a row here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from greenroom.probes.host import Host, ProbeUnavailable
from greenroom.probes.nvml import GpuFacts, read_with

ID_FILES = ("vendor", "device", "subsystem_vendor", "subsystem_device")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """How GPUs of a vendor are known and asked."""

    name: str
    pci_id: str
    classes: tuple[str, ...]
    """PCI classes: 0x0300 VGA, 0x0302 3D controller, 0x0380 other display, 0x1200 accelerator."""
    module: str
    library: str
    """What people call it."""


VENDORS = (
    Vendor(
        name="nvidia",
        pci_id="0x10de",
        classes=("0x0300", "0x0302"),
        module="greenroom.probes.nvml",
        library="NVML",
    ),
    Vendor(
        name="amd",
        pci_id="0x1002",
        classes=("0x0302", "0x0380", "0x1200"),  # without VGA: the graphics of a processor or of a desktop
        module="greenroom.probes.amd",
        library="AMD SMI",
    ),
)


def on_bus(host: Host) -> Mapping[str, int]:
    """Vendor -> GPUs that the PCI bus shows, whether or not a driver answers for them."""
    return {vendor.name: sum(1 for _ in _devices(host, vendor)) for vendor in VENDORS}


def pci_ids(host: Host, vendor: str) -> list[str]:
    """``vendor:device:subvendor:subdevice`` of each GPU of a vendor on the bus."""
    (wanted,) = (one for one in VENDORS if one.name == vendor)
    ids = []
    for folder in _devices(host, wanted):
        with contextlib.suppress(ProbeUnavailable):
            words = [host.read(f"{folder}/{name}").strip().removeprefix("0x") for name in ID_FILES]
            ids.append(":".join(words))
    return ids


def _devices(host: Host, vendor: Vendor) -> Iterator[str]:
    for path in host.glob("/sys/bus/pci/devices/*/vendor"):
        # a device that leaves the bus while we look is not on it
        with contextlib.suppress(ProbeUnavailable):
            folder = path.removesuffix("/vendor")
            if host.read(path).strip() == vendor.pci_id and host.read(f"{folder}/class").startswith(
                vendor.classes
            ):
                yield folder


def read_gpus(host: Host, seen: Mapping[str, int], *, timeout_s: float) -> GpuFacts:
    """Ask the library of the vendor with the most GPUs on the bus; NVML if there is none."""
    vendor = max(VENDORS, key=lambda one: seen.get(one.name, 0))
    return read_with(
        host, module=vendor.module, library=vendor.library, vendor=vendor.name, timeout_s=timeout_s
    )
