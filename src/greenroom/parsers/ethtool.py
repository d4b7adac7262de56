"""``ethtool IFACE`` and ``ethtool -S IFACE`` -> link and error counters."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, integer, lines, slug

KIND = "ethtool"
_SETTINGS = re.compile(r"^Settings for (\S{1,64}?):")
_STATISTICS = re.compile(r"^NIC statistics:")
_FIELD = re.compile(r"^\s+(Speed|Duplex|Link detected): *(.*?)\s*$")
_MODE = re.compile(r"\b(\d{2,7})base")
_COUNTER = re.compile(r"^\s+([A-Za-z][\w .\[\]-]{1,80}?): (\d{1,20})\s*$")
# Counters of mlx5, bnxt, ice, ixgbe and the kernel that count damage, not load (drivers' documentation).
_ERROR = re.compile(
    r"(?:crc|symbol|fcs|frame|align\w*|pcs\w*|jabber|undersize|oversize|length)_?err|"
    r"^(?:rx|tx)_errors(?:_phy)?$|^(?:rx|tx)_discards_phy$|link_down_events|"
    r"stall\w*_(?:error|events?)|pause_storm|unsupported_op|bus_stuck|high_temp|cable|corrupted_bits_phy$",
    re.IGNORECASE,
)
_HARMLESS = re.compile(r"corrected_bits|rx_pcs_symbol_err_phy_corrected|cable_unplug|unplug", re.IGNORECASE)


@dataclass(slots=True)
class Link:
    """One network device."""

    name: str
    speed_mbps: int | None = None
    supported_mbps: int = 0
    duplex: str = ""
    detected: str = ""
    """What stands behind ``Link detected:``, lower case; empty: not shown."""
    counters: dict[str, int] = field(default_factory=dict)
    read: int = 0
    """Counters looked at."""
    line: int = 0
    evidence: str = ""


def recognise(text: str) -> float:
    """How sure it is ethtool."""
    start = head(text)
    if re.search(r"^Settings for \S+:", start, re.MULTILINE):
        return 0.97
    if re.search(r"^NIC statistics:", start, re.MULTILINE):
        return 0.97
    return 0.7 if re.search(r"^[ \t]+Link detected: ", start, re.MULTILINE) else 0.0


def parse_ethtool(text: str) -> list[Link]:
    """The devices in the order printed. Statistics do not name theirs."""
    links: list[Link] = []
    statistics = False
    for count, line in lines(text):
        if found := _SETTINGS.match(line):
            links.append(Link(name=found[1], line=count, evidence=line))
            statistics = False
        elif _STATISTICS.match(line):
            links.append(Link(name="", line=count, evidence=line))
            statistics = True
        elif statistics and (found := _COUNTER.match(line)):
            link, value = links[-1], integer(found[2]) or 0
            if _ERROR.search(found[1]) and not _HARMLESS.search(found[1]):
                link.read += 1
                if value:
                    link.counters[slug(found[1])] = value
        elif not statistics and (found := _FIELD.match(line)):
            if not links:
                links.append(Link(name="", line=count))
            _take(links[-1], found[1], found[2], count, line)
        elif links and not statistics and "base" in line:
            modes = [int(mode) for mode in _MODE.findall(line)]
            links[-1].supported_mbps = max([links[-1].supported_mbps, *modes])
    return links


def _take(link: Link, name: str, value: str, line: int, evidence: str) -> None:
    if name == "Speed":
        link.speed_mbps = integer(value) if "nknown" not in value else None
    elif name == "Duplex":
        link.duplex = value.lower()
    elif name == "Link detected":
        link.detected, link.line, link.evidence = value.lower(), line, evidence


def read(text: str) -> Reading:
    """Links that are down or far below what the device can, and counters that are not zero."""
    book = Notebook(KIND)
    for link in parse_ethtool(text):
        _note(book, link)
    if not book.sightings and not book.healthy:
        book.puzzled("neither a link nor a counter is shown: " + text[:100])
    return book.reading()


def _note(book: Notebook, link: Link) -> None:
    for name, value in link.counters.items():
        book.add(f"nic.errors.{name}", link.name, line=link.line, evidence=f"{name}: {value}", value=value)
    if link.detected.startswith("no"):
        book.add("nic.link.down", link.name, line=link.line, evidence=link.evidence, reason=link.detected[3:])
    elif link.detected.startswith("yes") and link.duplex == "half":
        book.add("nic.link.half_duplex", link.name, line=link.line, evidence="Duplex: Half")
    elif link.detected.startswith("yes") and link.speed_mbps and link.speed_mbps * 10 <= link.supported_mbps:
        # A tenth of what the device can is never meant; less of a gap may be (a slower switch).
        evidence = f"Speed: {link.speed_mbps}Mb/s, supported: {link.supported_mbps}Mb/s"
        book.add("nic.link.slow", link.name, line=link.line, evidence=evidence, mbps=link.speed_mbps)
    elif link.detected.startswith("yes") or (link.read and not link.counters):
        book.ok()
