"""``ibv_devinfo`` (also ``-v``) -> ports."""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers import ib_ports
from greenroom.parsers.ib_ports import Port
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, integer, lines, number

KIND = "ibv_devinfo"
_HCA = re.compile(r"^hca_id:\s*(\S{1,64})")
_FIELD = re.compile(
    r"^\s+(port|state|sm_lid|port_lid|link_layer|fw_ver|vendor_part_id|phys_state|active_speed|active_width):\s*(.*?)\s*$"
)
_STATE = re.compile(r"PORT_([A-Z_]+)")
_STATES = {"init": "initializing"}


def recognise(text: str) -> float:
    """How sure it is ibv_devinfo."""
    start = head(text)
    if re.search(r"^hca_id:\s", start, re.MULTILINE):
        return 0.97
    return 0.8 if re.search(r"^[ \t]+state:\s+PORT_[A-Z]+ \(\d\)", start, re.MULTILINE) else 0.0


def parse_devinfo(text: str) -> list[Port]:
    """The ports in the order printed."""
    ports: list[Port] = []
    hca, model, firmware, width = "", "", "", 0
    for count, line in lines(text):
        if found := _HCA.match(line):
            hca, model, firmware = found[1], "", ""
            continue
        found = _FIELD.match(line)
        if not found:
            continue
        name, value = found[1], found[2]
        if name == "vendor_part_id":
            model = value
        elif name == "fw_ver":
            firmware = value
        elif name == "port":
            ports.append(Port(hca=hca, port=integer(value) or 1, model=model, firmware=firmware, line=count))
            width = 0
        else:
            if not ports or (name == "state" and ports[-1].hca != hca):
                ports.append(Port(hca=hca, model=model, firmware=firmware, line=count))
            if name == "active_width":
                width = integer(value) or 0
            _take(ports[-1], name, value, count, width)
    return ports


def _take(port: Port, name: str, value: str, line: int, width: int) -> None:
    if name == "state":
        found = _STATE.search(value)
        word = found[1].lower() if found else value.lower()
        port.state = _STATES.get(word, word)
        port.line, port.evidence = line, f"{port.device} state: {value}"
    elif name == "phys_state":
        port.physical = value.split(" ", 1)[0].lower().replace("_", "")
        port.evidence += f", phys_state: {value}"
    elif name == "sm_lid":
        port.sm_lid = integer(value)
    elif name == "port_lid":
        port.lid = integer(value)
    elif name == "link_layer":
        port.layer = value.lower()
    elif name == "active_speed" and width:
        speed = number(value)
        port.rate_gbps = round(speed * width, 1) if speed else None


def read(text: str) -> Reading:
    """What the ports say."""
    book = Notebook(KIND)
    ports = parse_devinfo(text)
    ib_ports.note_all(book, ports)
    if not ports:
        puzzle = "no RDMA device" if "No IB devices found" in text else "no port is shown"
        book.puzzled(f"{puzzle}: {text[:100]}")
    return book.reading()
