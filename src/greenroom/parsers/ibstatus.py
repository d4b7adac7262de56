"""``ibstatus`` -> ports: ``state: 1: DOWN``, lids in hexadecimal, rate with width and speed."""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers import ib_ports
from greenroom.parsers.ib_ports import Port
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, integer, lines, number, slug

KIND = "ibstatus"
_PORT = re.compile(r"^\s*Infiniband device '([^']{1,64})' port (\d{1,3}) status", re.IGNORECASE)
_FIELD = re.compile(r"^\s*(base lid|sm lid|state|phys state|rate|link_layer):\s*(.*?)\s*$")
_NUMBERED = re.compile(r"^\d+:\s*")


def recognise(text: str) -> float:
    """How sure it is ibstatus."""
    start = head(text)
    if re.search(r"^[ \t]*Infiniband device '", start, re.MULTILINE | re.IGNORECASE):
        return 0.97
    return 0.8 if re.search(r"^[ \t]*phys state:\s", start, re.MULTILINE) else 0.0


def parse_ibstatus(text: str) -> list[Port]:
    """The ports in the order printed."""
    ports: list[Port] = []
    for count, line in lines(text):
        if found := _PORT.match(line):
            ports.append(Port(hca=found[1], port=int(found[2]), line=count))
            continue
        found = _FIELD.match(line)
        if not found:
            continue
        if not ports:
            ports.append(Port(hca="", line=count))
        port, value = ports[-1], found[2]
        if found[1] == "state":
            port.state = {"init": "initializing", "armed": "armed"}.get(word := _word(value), word)
            port.line, port.evidence = count, f"{port.device} {line.strip()}"
        elif found[1] == "phys state":
            port.physical = _word(value)
            port.evidence += f", {line.strip()}"
        elif found[1] == "rate":
            port.rate_gbps = number(value)
        elif found[1] == "base lid":
            port.lid = integer(value)
        elif found[1] == "sm lid":
            port.sm_lid = integer(value)
        else:
            port.layer = value.lower()
    return ports


def _word(value: str) -> str:
    return slug(_NUMBERED.sub("", value)).replace("_", "")


def read(text: str) -> Reading:
    """What the ports say."""
    book = Notebook(KIND)
    ports = parse_ibstatus(text)
    ib_ports.note_all(book, ports)
    if not ports:
        book.puzzled("no port is shown: " + text[:100])
    return book.reading()
