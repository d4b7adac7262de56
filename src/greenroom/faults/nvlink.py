"""What the numbers behind an NVLink Xid say: the registers of Xid 74, the sub-codes of Xid 144 to 150."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from greenroom.faults.families import raw

NEW_SUBCODES_FROM = 575
"""Driver branch that moved the sub-code within IntrInfo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subcode:
    """One way to read an NVLink 5 report."""

    code: str
    """Of the catalogue: ``gpu.xid.149.netir_link_down.37``."""
    label: str
    """The unit's name in that driver branch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bits:
    """Set bits of a register of Xid 74."""

    register: int
    bits: tuple[int, ...]
    says: str
    hardware: bool
    """Points to broken hardware, at the latest when it comes back."""


def decode_nvlink5(
    xid: int, intrinfo: int, error_status: int, *, driver_branch: int = 0, unit: str = ""
) -> list[Subcode]:
    """The sub-codes that an Xid 144 to 150 may stand for: none if the table has no such row.

    ``driver_branch`` 0: not known; then both forms are tried, and ``unit`` (the name in the line)
    chooses between them. Several bits of ErrorStatus give several sub-codes.
    """
    forms = ["v1", "v2"] if not driver_branch else ["v2" if driver_branch >= NEW_SUBCODES_FROM else "v1"]
    found = [(form, one) for form in forms for one in _matches(xid, intrinfo, error_status, form)]
    named = [(form, one) for form, one in found if _same_unit(one, unit)]
    unique = {one.code: one for _, one in (named or found)}
    return list(unique.values())


def _matches(xid: int, intrinfo: int, error_status: int, form: str) -> Iterator[Subcode]:
    mask = 0x3FF if form == "v1" else 0x7F
    cause = intrinfo >> 20 & 0x3F
    for name, unit in _units().items():
        if unit["xid"] != xid:
            continue
        labels = [label for label, value in unit[form].items() if value == intrinfo & mask]
        if labels and (unit["by"] == "cause" or cause == 0):
            for suffix in _suffixes(unit["by"], cause, error_status):
                code = f"gpu.xid.{xid}.{name}{suffix}"
                if code in _known():
                    yield Subcode(code=code, label=labels[0])


def _suffixes(by: str, cause: int, error_status: int) -> list[str]:
    if by == "cause":
        return [f".{cause}"]
    if by == "unit":
        return [""]
    if by == "value":
        return [f".{error_status:#x}"]
    return [f".{1 << bit:#x}" for bit in range(32) if error_status >> bit & 1]


def _same_unit(one: Subcode, unit: str) -> bool:
    mine = one.code.split(".")[3]
    asked = unit.lower().replace(" ", "_")
    return bool(asked) and (asked == one.label.lower() or asked == mine)


@cache
def _units() -> Mapping[str, Any]:
    units: Mapping[str, Any] = raw("nvlink5")["unit"]
    return units


@cache
def _known() -> frozenset[str]:
    return frozenset(code for group in raw("nvlink5")["group"] for code in group["codes"])


def decode_xid74(registers: Sequence[int]) -> list[Bits]:
    """What the set bits of the seven registers say, in the order of the table; unknown bits say nothing."""
    found = []
    for row in raw("xid74")["bits"]:
        value = registers[row["register"]] if row["register"] < len(registers) else 0
        if bits := tuple(bit for bit in row["bits"] if value >> bit & 1):
            found.append(
                Bits(register=row["register"], bits=bits, says=row["says"], hardware=row["hardware"])
            )
    return found
