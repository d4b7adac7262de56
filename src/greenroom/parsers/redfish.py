"""Redfish resources (JSON of a management controller) -> parts that are not well, and events of its log.

Names and values: DMTF DSP0268 (schemas), DSP2046 (resources; Status.Health, Status.State, LogEntry).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from greenroom.model.sightings import Reading
from greenroom.parsers.ipmi_sel import Event, standing
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, load_json, mapping, sequence

KIND = "redfish"
MAX_PARTS = 5000
MAX_DEPTH = 12
# Schema, or the name of the list it stands in -> code. What is not here is host.bmc.
_CODES = {
    "Fan": "host.fan",
    "Fans": "host.fan",
    "Temperature": "host.temperature",
    "Temperatures": "host.temperature",
    "Voltage": "host.power",
    "Voltages": "host.power",
    "PowerControl": "host.power",
    "PowerSupply": "host.power.supply",
    "PowerSupplies": "host.power.supply",
    "Redundancy": "host.power.redundancy",
    "Memory": "host.memory.module",
    "MemorySummary": "host.memory.module",
    "Drive": "disk.fault",
    "Drives": "disk.fault",
    "Volume": "disk.fault",
}
_SENSORS = {
    "Temperature": "host.temperature",
    "Voltage": "host.power",
    "Power": "host.power",
    "Rotational": "host.fan",
}
# Their health sums up that of the parts below them.
_SUMS = frozenset(
    ("Chassis", "ComputerSystem", "Manager", "Thermal", "Power", "ThermalSubsystem", "PowerSubsystem",
     "Storage", "MemorySummary", "Redundancy")
)  # fmt: skip
# A supply without input is a warning to most controllers: the machine still runs.
_WARNING_COUNTS = frozenset(("host.power.supply", "host.power.redundancy"))
_NOT_THERE = frozenset(("Absent", "Disabled"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Something with a status."""

    name: str
    kind: str
    """Schema (``PowerSupply``), or the name of the list it stands in."""
    health: str
    """OK, Warning, Critical; empty: not told."""
    reading: str
    fault: str
    """Fault code if it is unwell."""

    @property
    def code(self) -> str:
        """Fault code; empty: well, or not so unwell that anything should be done."""
        counts = self.health == "Critical" or (self.health == "Warning" and self.fault in _WARNING_COUNTS)
        return self.fault if counts else ""

    @property
    def text(self) -> str:
        """For a person."""
        return " ".join(word for word in (f"{self.kind} {self.name}: {self.health}", self.reading) if word)


def recognise(text: str) -> float:
    """How sure it is a Redfish resource."""
    start = head(text)
    return 0.95 if '"@odata.' in start and "/redfish/v1" in start else 0.0


def parts(document: object) -> Iterator[Part]:
    """Everything with a status in a resource, itself among them; what is absent or switched off is not."""
    for kind, node in _walk(document):
        status = mapping(node.get("Status"))
        health = str((kind in _SUMS and status.get("HealthRollup")) or status.get("Health") or "")
        if health and status.get("State") not in _NOT_THERE:
            name = str(node.get("Name") or node.get("MemberId") or node.get("Id") or kind)[:60]
            yield Part(name=name, kind=kind, health=health, reading=_value(node), fault=_code(kind, node))


def unwell(seen: Iterable[Part]) -> list[Part]:
    """Those with a fault; one that only sums up others is left out where one of them is told."""
    bad = [part for part in seen if part.code]
    single = [part for part in bad if part.kind not in _SUMS]
    told = {part.code for part in single}
    sums = [part for part in bad if part.kind in _SUMS and part.code not in told]
    return single + [part for part in sums if part.code != "host.bmc" or not single]


def events(document: object) -> Iterator[Event]:
    """Entries of a log that are warnings or worse and were not resolved; times with their own zone."""
    for kind, node in _walk(document):
        if kind != "LogEntry":
            continue
        grave = node.get("Severity") in ("Warning", "Critical") and node.get("Resolved") is not True
        sensor, message = str(node.get("SensorType") or ""), str(node.get("Message") or "")
        yield Event(
            id=str(node.get("Id") or ""),
            at=_unix_s(str(node.get("Created") or "")),
            sensor=sensor[:60] or "log",
            event=message[:200],
            asserted=grave and "deassert" not in str(node.get("EntryCode") or "").lower(),
            line=0,
            text=f"{node.get('Created')} {node.get('Severity')} {sensor} {message}"[:300],
        )


def links(document: object, *names: str) -> list[str]:
    """Addresses of other resources under these names; ``Members``: those of a collection."""
    found = []
    for name in names:
        value = mapping(document).get(name)
        rows = sequence(value) if isinstance(value, list) else [value]
        paths = [str(mapping(row).get("@odata.id") or "") for row in rows[:200]]
        # They go to a command line: nothing but a path of this service is followed.
        found += [path for path in paths if re.fullmatch(r"/redfish/v1[\w/.:~%#()$-]{0,300}", path)]
    return [path.partition("#")[0] for path in found]


def _walk(document: object) -> Iterator[tuple[str, dict[str, object]]]:
    """(kind, object) of all objects, outer ones first."""
    left: list[tuple[str, object, int]] = [("", document, 0)]
    for _ in range(MAX_PARTS):
        if not left:
            return
        place, value, depth = left.pop()
        if isinstance(value, dict):
            schema = re.search(r"[.#](\w{1,60})$", str(value.get("@odata.type") or ""))
            kind = schema[1] if schema else place
            yield kind, value
            if depth < MAX_DEPTH:
                below = [
                    (key, item, depth + 1) for key, item in value.items() if isinstance(item, dict | list)
                ]
                left += reversed(below)
        elif isinstance(value, list) and depth < MAX_DEPTH:
            left += reversed([(place, item, depth + 1) for item in value[:MAX_PARTS]])


def _code(kind: str, node: dict[str, object]) -> str:
    if kind == "Sensor":
        return _SENSORS.get(str(node.get("ReadingType")), "host.bmc")
    where = f"{node.get('@odata.id')} {node.get('Name')}"
    if kind == "Redundancy" and re.search(r"fan|thermal|cool", where, re.IGNORECASE):
        return "host.fan"
    return _CODES.get(kind, "host.bmc")


def _value(node: dict[str, object]) -> str:
    for name, unit in (
        ("Reading", str(node.get("ReadingUnits") or "")),
        ("ReadingCelsius", "C"),
        ("ReadingVolts", "V"),
        ("LineInputVoltage", "V input"),
    ):
        if isinstance(node.get(name), int | float):
            return f"{node[name]} {unit}".strip()
    return ""


def _unix_s(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text[:40])
    except ValueError:
        return None
    # Without a zone it may be any: taken as UTC, as the controllers' own default.
    return (moment if moment.tzinfo else datetime.fromisoformat(f"{text[:40]}+00:00")).timestamp()


def read(text: str) -> Reading:
    """Parts that are unwell, and events that tell of a fault and were not taken back."""
    book = Notebook(KIND)
    document = load_json(text)
    seen = list(parts(document))
    bad = unwell(seen)
    for part in bad:
        book.add(part.code, part.name, evidence=part.text, health=part.health)
    told = list(events(document))
    grave = standing(sorted(told, key=lambda event: event.at or 0.0))
    for event in grave:
        book.add(event.code or "host.bmc", event.sensor, evidence=event.text, event=event.event)
    book.ok(len(seen) - len(bad) + len(told) - len(grave))
    if not seen and not told:
        book.puzzled("no status and no log entry is shown: " + text[:100])
    return book.reading()
