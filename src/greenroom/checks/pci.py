"""PCI devices: there, answering, with their links at full width (kernel ABI, sysfs-bus-pci)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.optional import number_of, read_number, read_text, split_pairs
from greenroom.model.results import Finding, Json
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

ROOT = "/sys/bus/pci/devices"
# Class codes (PCI Code and ID Assignment): mass storage, network, display, processing accelerators.
LOOKED_AT = ("0x01", "0x02", "0x03", "0x12")
LINKED = ("0x0108", "0x02")
"""Drives and adapters. A GPU is left to gpu_links: it lowers its speed when idle."""
ALL_ONES = "\ufffd" * 64
"""The header of a device that does not answer: 64 bytes ff, as text."""
NO_LINK_WIDTH = 63
"""The field for the width, all ones."""
GENERATIONS = {"2.5": 1, "5": 2, "8": 3, "16": 4, "32": 5, "64": 6}
"""By GT/s."""
_LINK = re.compile(r"(?P<gen>[1-7])x(?P<width>\d{1,2})$")


@check("pci.answering", cost_s=0.05, detects={"pcie.config_unreadable"})
def answering(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Every PCI Express drive, adapter and GPU answers: its registers do not read all ones.

    The kernel remembers vendor and class of a device that is gone, and reads the state of its link anew
    each time; only where that is all ones is the header looked at. A device that sleeps (D3) is not woken.
    """
    devices = [path.split("/")[-2] for path in host.glob(f"{ROOT}/*/current_link_width")]
    asked, findings = 0, []
    for name in devices:
        if not read_text(host, f"{ROOT}/{name}/class").startswith(LOOKED_AT):
            continue
        if read_text(host, f"{ROOT}/{name}/power_state").startswith("D3"):
            continue
        asked += 1
        width = read_number(host, f"{ROOT}/{name}/current_link_width")
        if width is not None and width != NO_LINK_WIDTH:
            continue
        header = read_text(host, f"{ROOT}/{name}/config")
        if header.startswith(ALL_ONES) or not header:
            message = f"{_identity(host, name)} reads all ones: it has fallen off the bus"
            findings.append(found("pcie.config_unreadable", subject=name, message=message, measured="ff ff"))
    if not asked:
        return NotApplicable("no drive, adapter or GPU with a PCI Express link is here")
    return Looked(looked={"devices": len(devices), "asked": asked}, findings=tuple(findings))


@check("pci.devices", cost_s=0.02, detects={"pcie.missing"}, expects={"pci.devices"})
def devices(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """As many PCI devices of each kind (vendor:device) are on the bus as were built in."""
    wanted = split_pairs(expected.texts("pci.devices"))
    if not wanted:
        return NotApplicable("no PCI device is expected by its kind")
    names = [path.split("/")[-2] for path in host.glob(f"{ROOT}/*/vendor")]
    if not names:
        raise ProbeUnavailable(f"{ROOT}: no device is shown")
    there = Counter(_identity(host, name) for name in names)
    looked: Json = {}
    findings: list[Finding] = []
    for kind, text in wanted.items():
        count = there[kind.lower()]
        looked[kind] = count
        if count < number_of(text, "pci.devices"):
            findings.append(
                found(
                    "pcie.missing",
                    subject=kind,
                    message=f"{count} devices {kind} are on the bus, {text} are expected",
                    measured=str(count),
                    threshold=expected["pci.devices"],
                )
            )
    return Looked(looked=looked, findings=tuple(findings))


@dataclass(frozen=True, slots=True)
class _Link:
    gen: int
    width: int

    def __str__(self) -> str:
        return f"gen {self.gen} x{self.width}"


@check("pci.links", cost_s=0.05, detects={"pcie.link_degraded"}, expects={"pci.links"}, stage=Stage.WARN)
def links(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Links of drives and adapters run as both their ends can: a narrow slot is no fault.

    Devices that the site declares (``pci.links``) are held against that instead, of whatever class.
    """
    wanted = split_pairs(expected.texts("pci.links"))
    # A device's folder lies in that of the port above it: the port says what the slot can.
    above = {
        path.split("/")[-2]: path.split("/")[-3] for path in host.glob(f"{ROOT}/*/*:*:*.*/max_link_width")
    }
    looked: Json = {}
    findings: list[Finding] = []
    for path in host.glob(f"{ROOT}/*/current_link_width"):
        name = path.split("/")[-2]
        identity = _identity(host, name)
        drive_or_card = read_text(host, f"{ROOT}/{name}/class").startswith(LINKED)
        told = _LINK.match(wanted.get(identity, ""))
        now, most = _link(host, name, "current"), _link(host, name, "max")
        if not (drive_or_card or told) or now is None or most is None:
            continue
        slot = _link(host, above.get(name, ""), "max") or most
        best = _Link(int(told["gen"]), int(told["width"])) if told else _meet(most, slot)
        looked[name] = {"kind": identity, "link": str(now), "can": str(best)}
        if now.width < best.width or now.gen < best.gen:
            findings.append(
                found(
                    "pcie.link_degraded",
                    subject=name,
                    message=f"{identity} runs at {now}, expected {best}",
                    measured=str(now),
                    threshold=expected["pci.links"] if told else None,
                )
            )
    if not looked:
        if wanted:
            raise ProbeUnavailable("none of the declared devices shows its link")
        return NotApplicable("no drive or adapter with a PCI Express link of its own is here")
    return Looked(looked=looked, findings=tuple(findings))


def _meet(one: _Link, other: _Link) -> _Link:
    return _Link(min(one.gen, other.gen), min(one.width, other.width))


def _link(host: Host, name: str, which: str) -> _Link | None:
    """``current`` or ``max``; None where there is none (a virtual function, a device that is gone)."""
    if not name:
        return None
    width = read_number(host, f"{ROOT}/{name}/{which}_link_width")
    speed = read_text(host, f"{ROOT}/{name}/{which}_link_speed").split(" ")[0]  # "16.0 GT/s PCIe", "Unknown"
    gen = GENERATIONS.get(speed.removesuffix(".0"))
    return _Link(gen, width) if gen and width and width < NO_LINK_WIDTH else None


def _identity(host: Host, name: str) -> str:
    """``15b3:1021``."""
    fields = (read_text(host, f"{ROOT}/{name}/{field}").removeprefix("0x") for field in ("vendor", "device"))
    return ":".join(fields).lower()
