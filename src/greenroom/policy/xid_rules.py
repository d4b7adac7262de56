"""One sighting on a closer look: sub-codes, registers, the driver's verdict, words of the line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from greenroom.faults import Fault, resolve
from greenroom.faults.nvlink import decode_nvlink5, decode_xid74
from greenroom.model.sightings import Scope, Sighting
from greenroom.model.words import Rung, Severity

VERDICTS: Mapping[str, tuple[str, str]] = {
    "none": ("gpu.xid.154", "needs no recovery"),
    "reset": ("gpu.recovery.reset", "asks for a reset of the GPU"),
    "reboot": ("gpu.recovery.reboot", "asks for a reboot of the node"),
    "drain_p2p": ("gpu.recovery.drain", "asks to end traffic between GPUs first, then a reset"),
    "drain_and_reset": ("gpu.recovery.drain", "asks for a drain, then a reset of the GPU"),
    "other": ("gpu.recovery.other", "asks for a recovery that we cannot name for this driver"),
}
"""The driver's verdict -> its fault code, and in words."""
_NUMBERS = {0: "none", 1: "reset", 2: "reboot", 3: "drain_p2p", 4: "drain_and_reset"}
# nvml.h, GPU_RECOVERY_ACTION: 5 is a reset through the bus in branch 580, another thing (IMEX) from 610
# on; 6 and 7 are new in 615.
_NUMBERS_BY_BRANCH = {(5, 580): "reset", (6, 615): "reset", (7, 615): "reboot"}
_WORDS = (
    (r"drain.?p2p", "drain_p2p"),
    (r"drain.?(?:and.?)?reset", "drain_and_reset"),
    (r"reboot", "reboot"),
    (r"reset", "reset"),
    (r"none", "none"),
)
_RECOVERY = re.compile(
    r"recovery action changed (?:from .{0,60}?)?\bto (0x[0-9a-f]{1,8}|\d{1,3})(?: ?\(([^)]{0,60})\))?",
    re.IGNORECASE,
)
_SEVERITY_WORD = re.compile(r"\b(non-?\s?fatal|fatal)\b", re.IGNORECASE)
_NVLINK5 = re.compile(
    r"\b1(?:4[4-9]|50), .{0,80}?([A-Z]{2,5}_[A-Z][A-Za-z0-9_]{1,19}|TREX|NVLPW|NETIR).{0,60}?"
    r"\((0x[0-9a-f]{1,8})[, ]+(0x[0-9a-f]{1,8})",
    re.DOTALL,
)
_REGISTERS = re.compile(r"\((0x[0-9a-f]{1,8}(?:, ?0x[0-9a-f]{1,8}){3,8})\)", re.IGNORECASE)
_LINK = re.compile(r"\blink\s*(-?\d{1,3})\b", re.IGNORECASE)
_CAUSE = re.compile(r"(?:caused by|due to|because of)\s+previous\s+Xid\s+(\d{1,3})", re.IGNORECASE)
_NO_SPARES = re.compile(r"all reserved rows|no (?:more )?(?:spare|reserved) rows", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A sighting as judged by itself."""

    code: str
    fault: Fault
    severity: Severity
    remedy: Rung
    scope: Scope
    why: str
    detail: dict[str, Any] = field(default_factory=dict)
    verdict: str = ""
    """Of an Xid 154: a key of VERDICTS."""
    cause: str = ""
    """Code of the error that the line itself names as its cause."""


def judge(sighting: Sighting, faults: Mapping[str, Fault], driver_branch: int) -> Reading:
    """What the catalogue and the numbers in the line make of it."""
    for fits, look in _LOOKS:
        if fits(sighting.code):
            return look(sighting, faults, driver_branch)
    return plain(sighting, faults, sighting.code)


def plain(sighting: Sighting, faults: Mapping[str, Fault], code: str, **changes: Any) -> Reading:  # noqa: ANN401 - fields of Reading
    """The catalogue's row, with ``changes`` on top."""
    fault = resolve(code, faults)
    values: dict[str, Any] = {
        "code": code,
        "fault": fault,
        "severity": fault.severity,
        "remedy": fault.remedy,
        "scope": fault.scope,
        "why": fault.why,
        "cause": _cause(sighting),
    }
    return Reading(**{**values, **changes})


def xid_of(code: str) -> int:
    """The number of an Xid, with or without a sub-code; 0: it is none."""
    parts = code.split(".")
    is_xid = len(parts) > 2 and parts[:2] == ["gpu", "xid"] and parts[2].isdigit()
    return int(parts[2][:6]) if is_xid else 0


def _nvlink5(sighting: Sighting, faults: Mapping[str, Fault], driver_branch: int) -> Reading:
    xid = xid_of(sighting.code)
    found = _NVLINK5.search(sighting.evidence)
    unit = str(sighting.detail.get("unit") or (found[1] if found else ""))
    intrinfo = _number(sighting, ("intrinfo", "intr_info"), found[2] if found else None)
    status = _number(sighting, ("error_status", "errorstatus"), found[3] if found else None)
    word = _fatal_word(sighting)
    detail = {"unit": unit, "fatal": word} if word is not None else {"unit": unit}
    branch = _int(sighting.detail.get("driver_branch")) or driver_branch
    options = (
        []
        if intrinfo is None
        else decode_nvlink5(xid, intrinfo, status or 0, driver_branch=branch, unit=unit)
    )
    if len(sighting.code.split(".")) > 3:
        options = []  # the parser has decoded it
    rows = [resolve(option.code, faults) for option in options]
    if rows:
        worst = max(rows, key=lambda row: WEIGHT[row.severity])
        return plain(sighting, faults, worst.code, detail=detail)
    if word is None:
        return plain(sighting, faults, sighting.code, detail=detail)
    return _by_word(sighting, faults, fatal=word, remedy=Rung.RESET_GPU, detail=detail)


def _sxid(sighting: Sighting, faults: Mapping[str, Fault], _branch: int) -> Reading:
    word = _fatal_word(sighting)
    if word is None:
        return plain(sighting, faults, sighting.code)
    return _by_word(sighting, faults, fatal=word, remedy=Rung.REBOOT, detail={"fatal": word})


def _by_word(
    sighting: Sighting, faults: Mapping[str, Fault], *, fatal: bool, remedy: Rung, detail: dict[str, Any]
) -> Reading:
    """The driver's own word Fatal or Non-fatal outranks the table."""
    row = resolve(sighting.code, faults)
    if fatal:
        scope = Scope.FABRIC if row.scope is Scope.UNKNOWN else row.scope
        why = "the driver calls it fatal"
        changes = {"severity": Severity.FAIL, "scope": scope, "remedy": _heavier(row.remedy, remedy)}
    else:
        why = "the driver calls it non-fatal"
        calm = Severity.SUSPECT if row.severity is Severity.FAIL else row.severity
        changes = {"severity": calm}
    return plain(sighting, faults, sighting.code, why=why, detail=detail, **changes)


def _heavier(ours: Rung, least: Rung) -> Rung:
    return ours if list(Rung).index(ours) >= list(Rung).index(least) and ours is not Rung.PERSON else least


def _nvlink4(sighting: Sighting, faults: Mapping[str, Fault], _branch: int) -> Reading:
    given = sighting.detail.get("registers")
    found = _REGISTERS.search(sighting.evidence)
    words = given if isinstance(given, list | tuple) else found[1].split(",") if found else []
    registers = [_int(word) or 0 for word in words][:16]
    bits = decode_xid74(registers)
    if not bits:
        return plain(sighting, faults, sighting.code, detail={"registers": [hex(one) for one in registers]})
    told = "; ".join(f"register {one.register}, bit {_list(one.bits)}: {one.says}" for one in bits)
    detail = {
        "registers": [hex(one) for one in registers],
        "bits": {str(one.register): list(one.bits) for one in bits},
        "hardware": any(one.hardware for one in bits),
    }
    return plain(sighting, faults, sighting.code, why=told, detail=detail)


def _recovery(sighting: Sighting, faults: Mapping[str, Fault], driver_branch: int) -> Reading:
    verdict = read_verdict(sighting, driver_branch)
    if not verdict:
        return plain(sighting, faults, sighting.code)
    code = VERDICTS[verdict][0]
    why = "the driver's own verdict: " + VERDICTS[verdict][1]
    changes = {"severity": Severity.NOTE, "remedy": Rung.PERSON} if verdict == "none" else {}
    return plain(sighting, faults, code, why=why, verdict=verdict, detail={"recovery": verdict}, **changes)


def read_verdict(sighting: Sighting, driver_branch: int = 0) -> str:
    """The key of VERDICTS that an Xid 154 (or its code) stands for; empty: it does not say."""
    if found := _RECOVERY.search(sighting.evidence):
        return _verdict_of(found[2] or "", _int(found[1]), driver_branch)
    given = sighting.detail.get("recovery")
    if isinstance(given, dict):
        given = given.get("to")
    if isinstance(given, int) and not isinstance(given, bool):
        return _verdict_of("", given, driver_branch)
    if isinstance(given, str):
        return _verdict_of(given, _int(given), driver_branch)
    by_code = {"reset": "reset", "reboot": "reboot", "drain": "drain_and_reset", "other": "other"}
    return by_code.get(sighting.code.removeprefix("gpu.recovery."), "")


def _verdict_of(words: str, number: int | None, driver_branch: int) -> str:
    for pattern, verdict in _WORDS:
        if re.search(pattern, words, re.IGNORECASE):
            return verdict
    return "other" if number is None else verdict_of(number, driver_branch)


def verdict_of(number: int, driver_branch: int = 0) -> str:
    """The key of VERDICTS that a number of nvml.h's GPU_RECOVERY_ACTION stands for in this driver branch."""
    known = _NUMBERS.get(number)
    if known:
        return known
    branch = 580 if 580 <= driver_branch < 590 else 615 if driver_branch >= 615 else 0
    return _NUMBERS_BY_BRANCH.get((number, branch), "other")


def _remap_failure(sighting: Sighting, faults: Mapping[str, Fault], _branch: int) -> Reading:
    if not _NO_SPARES.search(sighting.evidence):
        return plain(sighting, faults, sighting.code)
    why = "no spare row is left in a bank: the next reset cannot repair it"
    return plain(sighting, faults, sighting.code, remedy=Rung.REPLACE, why=why)


def _fatal_word(sighting: Sighting) -> bool | None:
    given = sighting.detail.get("fatal")
    if isinstance(given, bool):
        return given
    found = _SEVERITY_WORD.search(sighting.evidence)
    return None if not found else not found[1].lower().startswith("non")


def links_of(sighting: Sighting) -> list[int]:
    """The NVLinks that it names."""
    given = sighting.detail.get("links", sighting.detail.get("link"))
    values = given if isinstance(given, list | tuple) else [given]
    links = [link for link in map(_int, values) if link is not None]
    if not links and sighting.code.startswith(("gpu.xid.", "nvswitch.sxid.")):
        links = [int(number) for number in _LINK.findall(sighting.evidence)]
    return links[:64]


def _cause(sighting: Sighting) -> str:
    given = sighting.detail.get("cause")
    if isinstance(given, str) and given.startswith("gpu."):
        return given
    number = _int(given)
    if number is None and (found := _CAUSE.search(sighting.evidence)):
        number = int(found[1])
    return f"gpu.xid.{number}" if number else ""


def _number(sighting: Sighting, names: tuple[str, ...], otherwise: str | None) -> int | None:
    given = next((sighting.detail[name] for name in names if name in sighting.detail), otherwise)
    return _int(given)


def _int(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value & 0xFFFFFFFF if value >= 0 else value
    if isinstance(value, str) and re.fullmatch(r"\s*(?:0x[0-9a-fA-F]{1,8}|-?\d{1,9})\s*", value):
        return int(value.strip(), 0) if "x" in value.lower() else int(value)
    return None


def _list(numbers: tuple[int, ...]) -> str:
    return " and ".join(map(str, numbers))


WEIGHT = {severity: weight for weight, severity in enumerate(Severity)}
_Look = Callable[[Sighting, Mapping[str, Fault], int], Reading]
_LOOKS: tuple[tuple[Callable[[str], bool], _Look], ...] = (
    (lambda code: 144 <= xid_of(code) <= 150, _nvlink5),
    (lambda code: code == "gpu.xid.74", _nvlink4),
    (lambda code: code == "gpu.xid.154" or code.startswith("gpu.recovery."), _recovery),
    (lambda code: code == "gpu.xid.64", _remap_failure),
    (lambda code: code.startswith("nvswitch.sxid."), _sxid),
)
