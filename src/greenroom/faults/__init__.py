"""What a finding means: code -> meaning, part, scope, severity, first remedy. Fault knowledge lives here.

The rows are data, ``catalogue/*.toml``; docs/decisions/0008-fault-catalogue.md says how they were judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from greenroom.faults.families import FAMILIES, Catalogue, read
from greenroom.faults.fault import Clears, Fault, Opinion
from greenroom.faults.site import CatalogueWrong, read_site
from greenroom.model.words import Rung, Severity

__all__ = [
    "FAMILIES",
    "Catalogue",
    "CatalogueWrong",
    "Clears",
    "Fault",
    "Opinion",
    "codes",
    "load",
    "lookup",
    "overlay",
    "resolve",
]


_ours = Catalogue()
_in_force = _ours


def load(overrides: Iterable[Path] = ()) -> Catalogue:
    """The catalogue by code, with the site's files laid over it (CatalogueWrong if one is wrong).

    Without files it is the one in force (`overlay`).
    """
    paths = tuple(overrides)
    return Catalogue(read_site(paths, _ours)) if paths else _in_force


def overlay(paths: Iterable[Path]) -> None:
    """From here on `lookup` goes by the site's files, too (CatalogueWrong if one is wrong); none: by ours."""
    global _in_force  # noqa: PLW0603 - one site a process, said once at its start
    files = tuple(paths)
    _in_force = load(files) if files else _ours


def lookup(code: str) -> Fault:
    """The fault called ``code``; for one nobody wrote down its parent, else a generic suspect."""
    return resolve(code, _in_force)


def resolve(code: str, faults: Mapping[str, Fault]) -> Fault:
    """The row of the code, else of the longest beginning that has one (``ib.errors`` of ``ib.errors.x``).

    A code that has neither is a suspect: checked again, never ignored, never fatal by itself. The
    numbered families (Xid, SXid, DCGM, NVML) have no such parent on purpose.
    """
    parent = code
    while parent:
        if found := faults.get(parent):
            return found if found.code == code else replace(found, code=code)
        parent = parent.rpartition(".")[0]
    return Fault(
        code=code,
        meaning="a fault that the catalogue does not know yet",
        part=code.split(".", 1)[0],
        severity=Severity.SUSPECT,
        remedy=Rung.REBOOT,
        source="not in the catalogue",
        why="nobody wrote down what it means: check again",
    )


def codes(*families: str) -> frozenset[str]:
    """The codes of some families."""
    return frozenset(code for family in families for code in read(family))
