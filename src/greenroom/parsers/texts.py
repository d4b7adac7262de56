"""Reading untrusted text piece by piece: lines, numbers, JSON. Nothing here raises, whatever comes in."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import cast

MAX_LINE_CHARS = 2000
"""Longer lines are clipped: no tool meant here prints one, and patterns stay quick."""
HEAD_CHARS = 20_000
"""As much of a text as is looked at to recognise it."""
_NUMBER = re.compile(r"[-+]?\d[\d,]{0,40}(?:\.\d{1,40})?(?:[eE][-+]?\d{1,3})?", re.ASCII)
_BDF = re.compile(
    r"(?<![0-9a-fA-F:])(?:([0-9a-fA-F]{4,8}):)?([0-9a-fA-F]{2}):([0-9a-fA-F]{2})(?:\.[0-7])?(?![0-9a-fA-F:])"
)
_JSON_START = re.compile(r"^[ \t]*[{\[]", re.MULTILINE)
_TRAILING_COMMA = re.compile(r",(\s{0,200}[}\]])")
_BARE_KEY = re.compile(r"([{,]\s{0,200})([A-Za-z_][\w .#/-]{0,60}?)(\s{0,20}:)")
_JSON_TRIES = 4


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their number from 1, without line ends, clipped."""
    for number, line in enumerate(text.split("\n"), start=1):
        yield number, line.rstrip("\r")[:MAX_LINE_CHARS]


def head(text: str) -> str:
    """The beginning of the text, enough to tell its kind."""
    return text[:HEAD_CHARS]


def number(value: object) -> float | None:
    """The first number in a value (``42 C``, ``201,526,305``, ``16x``, 3.5), or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e30 and math.isfinite(value) else None
    if not isinstance(value, str):
        return None
    found = _NUMBER.search(value[:MAX_LINE_CHARS])
    return float(found[0].replace(",", "")) if found else None


def integer(value: object) -> int | None:
    """The first number in a value as a whole one; ``0x1f`` is read as hexadecimal."""
    if isinstance(value, str) and (found := re.match(r"\s*0[xX]([0-9a-fA-F]{1,16})\b", value)):
        return int(found[1], 16)
    read = number(value)
    return None if read is None or abs(read) > 1e18 else int(read)


def slug(text: str) -> str:
    """Lower case words joined by ``_``: the end of a code."""
    return re.sub(r"[^a-z0-9]+", "_", text[:80].lower()).strip("_")


def snake(text: str) -> str:
    """``LinkDownedCounter`` -> ``link_downed_counter``."""
    return slug(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text[:80]))


def pci_address(text: str) -> str:
    """The first PCI address as ``0000:1a:00`` (one spelling for all tools), or empty."""
    found = _BDF.search(text[:MAX_LINE_CHARS])
    if not found:
        return ""
    domain, bus, device = found.groups()
    return f"{int(domain or '0', 16):04x}:{bus.lower()}:{device.lower()}"


def load_json(text: str, *, mend: bool = False) -> object:
    """The first JSON object or list that begins a line; None if there is none that can be read.

    Tools print notes before their JSON and prompts follow it. ``mend``: also bare keys and trailing commas.
    """
    decoder = json.JSONDecoder()
    for tried, start in enumerate(_JSON_START.finditer(text)):
        if tried >= _JSON_TRIES:
            break
        body = text[start.end() - 1 :]
        try:
            return cast("object", decoder.raw_decode(body)[0])
        except json.JSONDecodeError as error:
            began = "\n" in body[: error.pos]
        except (ValueError, RecursionError):
            began = True
        if mend:
            try:
                return cast("object", decoder.raw_decode(_mend(body))[0])
            except (ValueError, RecursionError):
                pass
        if began:
            # It was JSON and is cut or broken: an object from its inside would tell a part as the whole.
            return None
    return None


def _mend(body: str) -> str:
    return _TRAILING_COMMA.sub(r"\1", _BARE_KEY.sub(r'\1"\2"\3', body))


def mapping(value: object) -> dict[str, object]:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> list[object]:
    """The value if it is a JSON list, else an empty one."""
    return value if isinstance(value, list) else []


def leaves(value: object, *, most: int = 100_000) -> Iterator[tuple[tuple[str, ...], object]]:
    """All plain values of a JSON value with their path, without recursion and at most ``most``."""
    stack: list[tuple[tuple[str, ...], object]] = [((), value)]
    given = 0
    while stack and given < most:
        path, item = stack.pop()
        if len(path) > 30:
            continue
        if isinstance(item, dict):
            stack.extend(((*path, str(key)), inner) for key, inner in reversed(item.items()))
        elif isinstance(item, list):
            stack.extend(((*path, str(index)), item[index]) for index in range(len(item) - 1, -1, -1))
        else:
            given += 1
            yield path, item
