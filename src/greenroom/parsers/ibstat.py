"""``ibstat`` -> ports. At a port that is down, a rate of 10 is a default and the lids are stale."""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers import ib_ports
from greenroom.parsers.ib_ports import Port
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, integer, lines, number, slug

KIND = "ibstat"
_CA = re.compile(r"^\s*(?:CA|RDMA device) '([^']{1,64})'")
_PORT = re.compile(r"^\s*Port (\d{1,3}):\s*$")
_FIELD = re.compile(
    r"^\s*(State|Physical state|Rate|Base lid|SM lid|Link layer|CA type|Firmware version): *(.*?)\s*$"
)


def recognise(text: str) -> float:
    """How sure it is ibstat."""
    start = head(text)
    if re.search(r"^[ \t]*CA '[^']+'", start, re.MULTILINE):
        return 0.97
    return 0.8 if "Physical state:" in start and "State:" in start else 0.0


def parse_ibstat(text: str) -> list[Port]:
    """The ports in the order printed."""
    ports: list[Port] = []
    hca, model, firmware = "", "", ""
    inside = False
    for count, line in lines(text):
        if found := _CA.match(line):
            hca, model, firmware, inside = found[1], "", "", False
        elif found := _PORT.match(line):
            ports.append(Port(hca=hca, port=int(found[1]), model=model, firmware=firmware, line=count))
            inside = True
        elif found := _FIELD.match(line):
            name, value = found[1], found[2]
            if name == "CA type":
                model = value
            elif name == "Firmware version":
                firmware = value
            else:
                if not inside:
                    ports.append(Port(hca=hca, model=model, firmware=firmware, line=count))
                    inside = True
                _take(ports[-1], name, value, count)
    for port in ports:
        port.evidence = f"{port.device} State: {port.state}, Physical state: {port.physical}, {port.evidence}"
    return ports


def _take(port: Port, name: str, value: str, line: int) -> None:
    if name == "State":
        port.state, port.line = value.lower(), line
    elif name == "Physical state":
        port.physical = slug(value).replace("_", "")
    elif name == "Rate":
        port.rate_gbps = number(value)
        port.evidence = f"Rate: {value}"
    elif name == "Base lid":
        port.lid = integer(value)
    elif name == "SM lid":
        port.sm_lid = integer(value)
    elif name == "Link layer":
        port.layer = value.lower()


def read(text: str) -> Reading:
    """What the ports say."""
    book = Notebook(KIND)
    ports = parse_ibstat(text)
    ib_ports.note_all(book, ports)
    if not ports:
        book.puzzled("no port is shown: " + text[:100])
    return book.reading()
