"""Error counters of InfiniBand ports: ``perfquery`` and ``ibqueryerrors``.

The counters only ever grow and stop at their limit: one reading tells that something happened, not when.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, integer, lines, snake

KIND = "perfquery"
ERROR_COUNTERS = frozenset(
    {
        "symbol_error_counter",
        "symbol_errors",
        "link_error_recovery_counter",
        "link_recovers",
        "link_downed_counter",
        "link_downed",
        "port_rcv_errors",
        "rcv_errors",
        "port_rcv_remote_physical_errors",
        "rcv_rem_phys_errors",
        "port_rcv_switch_relay_errors",
        "port_xmit_discards",
        "xmt_discards",
        "port_xmit_constraint_errors",
        "port_rcv_constraint_errors",
        "local_link_integrity_errors",
        "link_integrity_errors",
        "excessive_buffer_overrun_errors",
        "exc_buf_overrun_errors",
        "vl15_dropped",
        "qp1_dropped",
    }
)
_NOT_FAULTS = frozenset({"port_rcv_switch_relay_errors"})  # multicast that a switch rightly drops
_PORT = re.compile(
    r"^# Port (?:extended )?counters: (?:Lid|DR path) ?(.{1,60}?) port (\d{1,3})", re.IGNORECASE
)
_COUNTER = re.compile(r"^([A-Za-z][A-Za-z0-9_]{2,50}):\.*\s*(\d{1,20})\s*$")
_ERRORS_OF = re.compile(
    r"^(?:Errors for (?P<name>.{1,120}?)\s*$|\s*GUID (?P<guid>0x[0-9a-f]{1,16}) port (?P<port>\d{1,3}|ALL):)",
    re.IGNORECASE,
)
_BRACKET = re.compile(r"\[(\w{3,50}) == (\d{1,20})")


@dataclass(slots=True)
class Counters:
    """Error counters of one port."""

    device: str
    values: dict[str, int] = field(default_factory=dict)
    where: dict[str, tuple[int, str]] = field(default_factory=dict)


def recognise(text: str) -> float:
    """How sure it is one of these outputs."""
    start = head(text)
    if re.search(r"^# Port (?:extended )?counters:", start, re.MULTILINE):
        return 0.97
    if re.search(r"GUID 0x[0-9a-f]+ port (?:\d+|ALL):.{0,20}\[\w+ == \d+", start):
        return 0.95
    return (
        0.8
        if re.search(r"^(?:SymbolErrorCounter|LinkDownedCounter|PortRcvErrors):\.", start, re.MULTILINE)
        else 0.0
    )


def parse_counters(text: str) -> list[Counters]:
    """The error counters per port."""
    ports: list[Counters] = []
    for count, line in lines(text):
        if found := _PORT.match(line):
            ports.append(Counters(device=f"lid {found[1].strip()}/{found[2]}"))
        elif found := _ERRORS_OF.match(line):
            if found["guid"]:
                ports.append(Counters(device=f"{found['guid']}/{found['port']}"))
                for name, value in _BRACKET.findall(line)[:50]:
                    _take(ports[-1], name, value, count, line)
        elif found := _COUNTER.match(line):
            if not ports:
                ports.append(Counters(device=""))
            _take(ports[-1], found[1], found[2], count, line)
    return ports


def _take(port: Counters, name: str, value: str, line: int, evidence: str) -> None:
    counter = snake(name)
    if counter in ERROR_COUNTERS:
        port.values[counter] = integer(value) or 0
        port.where[counter] = (line, evidence)


def read(text: str) -> Reading:
    """Counters that are not zero."""
    book = Notebook(KIND)
    ports = parse_counters(text)
    for port in ports:
        bad = {name: value for name, value in port.values.items() if value and name not in _NOT_FAULTS}
        for name, value in bad.items():
            line, evidence = port.where[name]
            book.add(f"ib.errors.{name}", port.device, line=line, evidence=evidence, value=value)
        if port.values and not bad:
            book.ok()
    if not any(port.values for port in ports):
        book.puzzled("no error counter is shown: " + text[:100])
    return book.reading()
