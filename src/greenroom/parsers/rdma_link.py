"""``rdma link`` of iproute2 -> ports of InfiniBand and RoCE adapters."""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers.ib_ports import Port, note_all
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, lines

KIND = "rdma-link"
_LINK = re.compile(
    r"^\s*(?:\d+: )?link (?P<hca>[\w-]{1,40})/(?P<port>\d{1,3}) .{0,200}?\bstate (?P<state>[A-Z]+) "
    r"physical_state (?P<physical>[A-Z_]+)(?: netdev (?P<netdev>\S{1,32}))?"
)
_LID = re.compile(r"\blid (?P<lid>\d{1,6})\b")


def recognise(text: str) -> float:
    """How sure it is rdma link."""
    return 0.95 if any(_LINK.match(line) for _, line in list(lines(head(text)))[:30]) else 0.0


def parse_links(text: str) -> list[Port]:
    """The ports in the order printed. Only ports of InfiniBand have a lid."""
    return [
        Port(
            hca=found["hca"],
            port=int(found["port"]),
            state={"init": "initializing"}.get(found["state"].lower(), found["state"].lower()),
            physical=found["physical"].lower().replace("_", ""),
            layer="infiniband" if _LID.search(line) else "ethernet" if found["netdev"] else "",
            netdev=found["netdev"] or "",
            line=count,
            evidence=line.strip(),
        )
        for count, line in lines(text)
        if (found := _LINK.match(line))
    ]


def read(text: str) -> Reading:
    """The state of every port."""
    book = Notebook(KIND)
    ports = parse_links(text)
    note_all(book, ports)
    if not ports:
        book.puzzled("no port is shown: " + text[:100])
    return book.reading()
