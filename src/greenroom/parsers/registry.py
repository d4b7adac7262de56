"""Which parser reads a text: every module here with KIND, recognise and read is one.

``recognise(text) -> float`` says how sure it is (0 to 1) that the text is of its kind,
``read(text) -> Reading`` what it says.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Protocol, cast

from greenroom import parsers
from greenroom.model.sightings import Reading

SURE_ENOUGH = 0.3
HEAD_CHARS = 65_536
"""Enough to recognise a text by."""


class Parser(Protocol):
    """What such a module offers."""

    KIND: str

    def recognise(self, text: str) -> float:
        """How sure it is, 0 to 1."""
        ...

    def read(self, text: str) -> Reading:
        """What the text says. Never raises, whatever the text."""
        ...


@cache
def all_parsers() -> Mapping[str, Parser]:
    """Parsers by kind."""
    found: dict[str, Parser] = {}
    for info in pkgutil.iter_modules(parsers.__path__):
        if info.name == "registry":
            continue
        module = import_module(f"{parsers.__name__}.{info.name}")
        if all(hasattr(module, name) for name in ("KIND", "recognise", "read")):
            found[module.KIND] = cast("Parser", module)
    return MappingProxyType(dict(sorted(found.items())))


def recognise(text: str) -> str:
    """The kind of the text; empty if no parser is sure enough."""
    start = text[:HEAD_CHARS]
    sure, kind = max((parser.recognise(start), kind) for kind, parser in all_parsers().items())
    return kind if sure >= SURE_ENOUGH else ""


def read(text: str, kind: str = "auto") -> Reading:
    """Read a text of a kind, or of whatever kind it is.

    Raises:
        KeyError: no such kind.
    """
    known = recognise(text) if kind == "auto" else kind
    if not known:
        first = text.strip()[:200]
        return Reading(kind="", not_understood=(first,) if first else ())
    return all_parsers()[known].read(text)
