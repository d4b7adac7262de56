"""``lspci`` and ``lspci -vv`` -> devices that no longer answer, and links below their capability.

A device that fell off the bus reads as all ones: revision ff, header type 7f.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, lines, pci_address

KIND = "lspci"
_DEVICE = re.compile(
    r"^(?P<at>(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (?P<class>[^:]{3,60}): (?P<name>.{1,300})$"
)
_REVISION = re.compile(r"\(rev (?P<rev>[0-9a-f]{2})\)")
_CAPABLE = re.compile(r"^\s+LnkCap:.{0,80}?Speed (?P<speed>[\d.]{1,6})GT/s,? Width x(?P<width>\d{1,2})")
_STATUS = re.compile(r"^\s+LnkSta:\s*Speed (?P<speed>[\d.]{1,6})GT/s.{0,40}?Width x(?P<width>\d{1,2})")
_GPU = re.compile(
    r"NVIDIA|Instinct|Aqua Vanjaram|Data Center GPU|Processing accelerators|3D controller", re.IGNORECASE
)


@dataclass(slots=True)
class PciDevice:
    """One device."""

    address: str
    kind: str
    name: str
    revision: str = ""
    gone: bool = False
    width_most: int = 0
    width_now: int = 0
    speed_most: float = 0.0
    speed_now: float = 0.0
    line: int = 0
    evidence: str = ""

    @property
    def gpu(self) -> bool:
        """Whether it is an accelerator."""
        display = re.search(r"3D|VGA|Display|accelerat", self.kind, re.IGNORECASE) is not None
        return display and _GPU.search(self.kind + self.name) is not None


def recognise(text: str) -> float:
    """How sure it is lspci."""
    found = sum(1 for line in head(text).split("\n")[:200] if _DEVICE.match(line))
    if found >= 2 or "LnkSta:" in head(text):
        return 0.9
    return 0.85 if found else 0.0


def parse_lspci(text: str) -> list[PciDevice]:
    """The devices in the order printed."""
    devices: list[PciDevice] = []
    for count, line in lines(text):
        if found := _DEVICE.match(line):
            revision = _REVISION.search(line)
            device = PciDevice(
                address=pci_address(found["at"]), kind=found["class"], name=found["name"], line=count
            )
            device.revision = revision["rev"] if revision else ""
            device.gone = device.revision == "ff"
            device.evidence = line
            devices.append(device)
            continue
        if "LnkSta:" in line and not devices:
            devices.append(PciDevice(address="", kind="", name="", line=count))
        if not devices:
            continue
        if "Unknown header type 7f" in line:
            devices[-1].gone, devices[-1].evidence = True, line
        elif found := _CAPABLE.match(line):
            devices[-1].width_most, devices[-1].speed_most = int(found["width"]), _speed(found["speed"])
        elif found := _STATUS.match(line):
            devices[-1].width_now, devices[-1].speed_now = int(found["width"]), _speed(found["speed"])
            devices[-1].line, devices[-1].evidence = count, line
            if "Width" in line and "downgraded" in line.partition("Width")[2] and not devices[-1].width_most:
                devices[-1].width_most = devices[-1].width_now + 1
    return devices


def _speed(text: str) -> float:
    return float(text) if text.count(".") <= 1 and text.strip(".") else 0.0


def read(text: str) -> Reading:
    """Devices that are gone, and links that lost lanes (a slow link alone may be saving power)."""
    book = Notebook(KIND)
    devices = parse_lspci(text)
    for device in devices:
        if device.gone:
            code = "gpu.lost" if device.gpu else "pci.device.lost"
            book.add(code, device.address, line=device.line, evidence=device.evidence, name=device.name)
        elif 0 < device.width_now < device.width_most:
            code = "gpu.pcie.downgraded" if device.gpu else "pci.link.downgraded"
            widths = {"width": device.width_now, "width_max": device.width_most}
            book.add(
                code, device.address, line=device.line, evidence=device.evidence, name=device.name, **widths
            )
        else:
            book.ok()
    if not devices:
        book.puzzled("no device is shown: " + text[:100])
    return book.reading()
