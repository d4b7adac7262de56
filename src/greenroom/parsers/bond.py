"""``/proc/net/bonding/bond0`` -> the state of a bond and of its members."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, integer, lines

KIND = "bond"
_FIELD = re.compile(
    r"^\s*(Bonding Mode|MII Status|Slave Interface|Speed|Duplex|Link Failure Count|Aggregator ID)"
    r": *(.*?)\s*$"
)


@dataclass(slots=True)
class Member:
    """One device of the bond."""

    name: str
    status: str = ""
    failures: int = 0
    speed: str = ""
    aggregator: str = ""
    line: int = 0
    evidence: str = ""


@dataclass(slots=True)
class Bond:
    """The bond itself."""

    mode: str = ""
    status: str = ""
    aggregator: str = ""
    members: list[Member] = field(default_factory=list)
    line: int = 0


def recognise(text: str) -> float:
    """How sure it is a bond's status."""
    start = head(text)
    if "Ethernet Channel Bonding Driver" in start:
        return 0.98
    return 0.9 if "Slave Interface:" in start and "MII Status:" in start else 0.0


def parse_bond(text: str) -> Bond:
    """The bond with its members."""
    bond = Bond()
    for count, line in lines(text):
        found = _FIELD.match(line)
        if not found:
            continue
        name, value = found[1], found[2]
        if name == "Slave Interface":
            bond.members.append(Member(name=value[:64], line=count))
        elif not bond.members:
            if name == "Bonding Mode":
                bond.mode = value
            elif name == "MII Status":
                bond.status, bond.line = value.lower(), count
            elif name == "Aggregator ID":
                bond.aggregator = value
        elif name == "MII Status":
            bond.members[-1].status = value.lower()
            bond.members[-1].line, bond.members[-1].evidence = count, line
        elif name == "Link Failure Count":
            bond.members[-1].failures = integer(value) or 0
        elif name == "Speed":
            bond.members[-1].speed = value
        elif name == "Aggregator ID":
            bond.members[-1].aggregator = value
    return bond


def read(text: str) -> Reading:
    """Members that are down, that have been down, or that stand outside the bond's aggregate."""
    book = Notebook(KIND)
    bond = parse_bond(text)
    if bond.status and bond.status != "up":
        book.add("nic.bond.down", line=bond.line, evidence=f"MII Status: {bond.status}", mode=bond.mode)
    for member in bond.members:
        evidence = f"{member.name}: {member.evidence.strip()}"
        if member.status != "up":
            book.add(
                "nic.bond.member_down", member.name, line=member.line, evidence=evidence, status=member.status
            )
        elif bond.aggregator and member.aggregator and member.aggregator != bond.aggregator:
            evidence = f"{member.name}: aggregator {member.aggregator}, the bond's is {bond.aggregator}"
            book.add("nic.bond.split", member.name, line=member.line, evidence=evidence)
        else:
            book.ok()
        if member.failures:
            evidence = f"{member.name}: Link Failure Count: {member.failures}"
            book.add(
                "nic.link.flapped", member.name, line=member.line, evidence=evidence, value=member.failures
            )
    if not bond.members:
        book.puzzled("no member of a bond is shown: " + text[:100])
    return book.reading()
