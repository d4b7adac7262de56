"""``ibdev2netdev`` -> which network device belongs to which port, and whether that device is up.

Up and Down tell of the network device only: an InfiniBand port whose IP interface was never
brought up shows ``(Down)`` and is well.
"""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers.ib_ports import Port
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, lines

KIND = "ibdev2netdev"
_LINE = re.compile(
    r"^(?:[0-9a-f:.]{7,16} )?(?P<hca>\S{1,64}) .{0,200}?port (?P<port>\d{1,3}) [^=]{0,40}"
    r"==> (?P<netdev>\S{1,64}) \((?P<state>\w+)\)"
)
_IPOIB = re.compile(r"^ib")


def recognise(text: str) -> float:
    """How sure it is this list."""
    return 0.95 if re.search(r"\bport \d+ .{0,40}==> \S+ \((?:Up|Down)\)", head(text)) else 0.0


def parse_netdevs(text: str) -> list[Port]:
    """The ports; ``state`` is that of the network device."""
    ports = []
    for count, line in lines(text):
        if found := _LINE.match(line.strip()):
            layer = "infiniband" if _IPOIB.match(found["netdev"]) else "ethernet"
            ports.append(
                Port(
                    hca=found["hca"],
                    port=int(found["port"]),
                    netdev=found["netdev"],
                    state=found["state"].lower(),
                    layer=layer,
                    line=count,
                    evidence=line.strip(),
                )
            )
    return ports


def read(text: str) -> Reading:
    """Ethernet devices that are down; the InfiniBand side cannot be judged from here."""
    book = Notebook(KIND)
    ports = parse_netdevs(text)
    for port in ports:
        if port.state == "down" and port.ethernet:
            book.add(
                "roce.netdev.down", port.device, line=port.line, evidence=port.evidence, netdev=port.netdev
            )
        else:
            book.ok()
    if not ports:
        book.puzzled("no port is shown: " + text[:100])
    return book.reading()
