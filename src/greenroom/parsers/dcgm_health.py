"""``dcgmi health -c``, table or JSON -> the troubles per GPU and watched system."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from greenroom.model.sightings import Reading
from greenroom.parsers.dcgm_words import find_gpu, find_phrase
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, lines, load_json, mapping, slug

KIND = "dcgmi-health"
_ROW = re.compile(r"^\|(?P<name>[^|]*)\|(?P<value>[^|]*)\|\s*$")
_BAD = re.compile(r"\b(warning|failure|fail|warn)\b", re.IGNORECASE)
_WELL = re.compile(r"\bhealthy\b", re.IGNORECASE)
_ENTITY = re.compile(
    r"^(?:->\s*)?(?:(GPU|Switch|NvSwitch|CPU|ConnectX)\s*(?:ID)?\s*:?\s*)?(\d{1,4})$", re.IGNORECASE
)
_SYSTEM = re.compile(
    r"\b(PCIe|NVLink|PMU|MCU|Memory|SM|InfoROM|Thermal|Power|Driver|NVSwitch|ConnectX|All)\b", re.IGNORECASE
)


@dataclass(slots=True)
class Trouble:
    """One system of one entity that is not healthy."""

    entity: str
    system: str
    status: str
    message: str = ""
    line: int = 0


@dataclass(slots=True)
class Health:
    """The whole report."""

    overall: str
    """``Healthy``, ``Warning``, ``Failure``; empty: the report does not say."""
    troubles: list[Trouble]
    well: int
    """Entities said to be healthy."""


def recognise(text: str) -> float:
    """How sure it is this report."""
    start = head(text)
    if "Health Monitor Report" in start:
        return 0.97
    return 0.7 if re.search(r"Overall Health", start) and "dcgm" not in start.lower() else 0.0


def parse_health(text: str) -> Health:
    """The report, from its table or its JSON."""
    data = mapping(load_json(text)) if "{" in text[:2000] else {}
    return _from_json(data) if data else _from_table(text)


def _from_json(data: dict[str, object]) -> Health:
    body = mapping(data.get("body"))
    health = Health(overall=_value(body.get("Overall Health")), troubles=[], well=0)
    for group, node in body.items():
        for entity, child in mapping(mapping(node).get("children")).items():
            device = _device(group, entity)
            found = list(_json_troubles(device, mapping(child)))
            health.troubles += found
            if not found and _WELL.search(_value(child)):
                health.well += 1
            elif not found and (status := _BAD.search(_value(child))):
                health.troubles.append(Trouble(entity=device, system="", status=status[1]))
    return health


def _json_troubles(device: str, child: dict[str, object]) -> Iterator[Trouble]:
    stack: list[tuple[str, dict[str, object]]] = [
        (name, mapping(node)) for name, node in mapping(child.get("children")).items()
    ]
    while stack:
        name, node = stack.pop()
        inner = mapping(node.get("children"))
        system, value = _SYSTEM.search(name), _value(node)
        if system and (status := _BAD.search(value)):
            texts = " ".join(f"{key} {_value(leaf)}" for key, leaf in inner.items())
            yield Trouble(
                entity=device, system=system[1].lower(), status=status[1], message=f"{value} {texts}"
            )
        else:
            stack += [(key, mapping(leaf)) for key, leaf in list(inner.items())[:200]]


def _value(node: object) -> str:
    return str(mapping(node).get("value", "")) if isinstance(node, dict) else str(node or "")


def _device(group: str, entity: str) -> str:
    ids = re.search(r"\d{1,4}", entity)
    named = re.match(r"[A-Za-z]+", group)
    return f"{(named[0] if named else 'gpu').lower()}:{ids[0]}" if ids else slug(entity)


def _from_table(text: str) -> Health:
    health = Health(overall="", troubles=[], well=0)
    device, group = "", "gpu"
    for count, line in lines(text):
        found = _ROW.match(line)
        if not found:
            continue
        name, value = found["name"].strip(), found["value"].strip()
        bare = name.lstrip("-> ").strip()
        status = _BAD.search(value)
        if name.startswith("Overall Health"):
            health.overall = value.strip()
        elif bare.lower() in {"gpu", "switch", "nvswitch", "cpu"} and not value:
            group = bare.lower()
        elif entity := _ENTITY.match(bare):
            device = f"{(entity[1] or group).lower()}:{entity[2]}"
            health.well += bool(_WELL.search(value))
            if status:
                health.troubles.append(Trouble(entity=device, system="", status=status[1], line=count))
        elif status and (system := _SYSTEM.search(name + " " + value)):
            health.troubles.append(
                Trouble(entity=device, system=system[1].lower(), status=status[1], message=value, line=count)
            )
        elif value and health.troubles and not name.startswith("==="):
            last = health.troubles[-1]
            last.message = f"{last.message} {value}"[:1000]
            last.system = last.system or (
                (found_system[1].lower()) if (found_system := _SYSTEM.search(value)) else ""
            )
    return health


def read(text: str) -> Reading:
    """What the report says."""
    book = Notebook(KIND)
    health = parse_health(text)
    book.ok(health.well)
    named = {trouble.entity for trouble in health.troubles if trouble.system}
    for trouble in health.troubles:
        if not trouble.system and trouble.entity in named:
            continue  # the entity's own line only sums up
        code = find_phrase(trouble.message) or f"dcgm.health.{slug(trouble.system) or 'overall'}"
        device = trouble.entity or find_gpu(trouble.message)
        evidence = f"{trouble.system} {trouble.status}: {trouble.message}"
        book.add(
            code, device, line=trouble.line, evidence=evidence, system=trouble.system, status=trouble.status
        )
    if not health.troubles:
        if _BAD.search(health.overall):
            book.add(
                "dcgm.health.overall", evidence=f"Overall Health: {health.overall}", status=health.overall
            )
        elif _WELL.search(health.overall):
            book.ok(0 if health.well else 1)
        else:
            book.puzzled("the report does not say how healthy it is: " + text[:100])
    return book.reading()
