"""Kernel log text -> sightings: reports of the NVIDIA driver (Xid, SXid) and what kernel_faults knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from greenroom.model.sightings import Reading, Sighting
from greenroom.parsers import kernel_faults
from greenroom.parsers.kernel_log import Record, find_xids, parse_records, pci_address

KIND = "kernel-log"
MAX_SIGHTINGS = 10_000
MAX_LINE_CHARS = 4_000
_HINTS = (*kernel_faults.HINTS, "nvidia-nvswitch", "sxid")
_OURS = re.compile(r"NVRM|nvidia-nvswitch|SXid")
_KERNEL = re.compile(r"^(?:\S.{0,80}kernel:|<\d+>\[|\[ *\d+\.\d{6}\]|\d+,\d+,\d+,[^;]*;)", re.MULTILINE)
# Whatever stands before the kernel's own text: syslog's or journald's head, container prefixes.
_HEAD = re.compile(r"^.{0,200}?\bkernel:\s?(?:\[ *(?P<up>\d+\.\d+)\]\s?)?")
_SXID = re.compile(
    r"nvidia-nvswitch\d*: SXid \((?P<device>[^)]{0,60})\): (?P<code>\d{1,6}), (?P<detail>.{0,300})"
)


def recognise(text: str) -> float:
    """A log of the kernel, or a paste of lines out of one."""
    if re.search(r"NVRM: Xid \(|nvidia-nvswitch\d*: SXid", text):
        return 0.9
    if any(True for line in text.splitlines()[:500] for _ in kernel_faults.find(line[:MAX_LINE_CHARS])):
        return 0.85
    return 0.6 if _KERNEL.search(text) else 0.0


def read(text: str) -> Reading:
    """Every report, each line by itself."""
    sightings: list[Sighting] = []
    puzzles: list[str] = []
    healthy = 0
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw[:MAX_LINE_CHARS]
        low = line.lower()
        if not any(hint in low for hint in _HINTS):
            healthy += bool(low)
            continue
        found = _read_line(line, number)
        if not found and not _OURS.search(line):
            healthy += 1
            continue
        sightings += found
        if not found and re.search(r"S?Xid", line):
            puzzles.append(line.strip()[:200])
        if len(sightings) >= MAX_SIGHTINGS:
            puzzles.append(f"more than {MAX_SIGHTINGS} reports: the rest is left out")
            break
    return Reading(
        kind=KIND,
        sightings=tuple(_without_echoes(sightings)),
        healthy=healthy,
        not_understood=tuple(islice(puzzles, 20)),
    )


def _read_line(line: str, number: int) -> list[Sighting]:
    uptime_s: float | None = None
    text = line
    if head := _HEAD.match(line):
        text = line[head.end() :]
        uptime_s = float(head["up"]) if head["up"] else None
        records = [Record(uptime_s=uptime_s, text=text)]
    else:
        records = parse_records(line)
    when = _when(line) if head else ""
    found = [
        Sighting(
            code=f"gpu.xid.{xid.code}",
            device=xid.device,
            uptime_s=xid.uptime_s,
            when=when,
            line=number,
            detail={} if xid.recovery is None else {"recovery": xid.recovery},
            evidence=line.strip()[:500],
        )
        for xid in find_xids(records)
    ]
    if match := _SXID.search(line):
        fatal = re.match(r"(Non-fatal|Fatal)", match["detail"], re.IGNORECASE)
        found.append(
            Sighting(
                code=f"nvswitch.sxid.{int(match['code'])}",
                device=pci_address(match["device"]),
                uptime_s=uptime_s,
                when=when,
                line=number,
                detail={"fatal": fatal[1].lower() == "fatal"} if fatal else {},
                evidence=line.strip()[:500],
            )
        )
    found += [
        Sighting(
            code=one.code,
            device=one.device,
            count=one.count,
            uptime_s=uptime_s,
            when=when,
            line=number,
            detail=dict(one.detail),
            evidence=line.strip()[:500],
        )
        for one in (() if found else kernel_faults.find(line))
    ]
    return found


def _without_echoes(sightings: list[Sighting]) -> Iterator[Sighting]:
    """One line a trouble, where the kernel writes several about it."""
    told = {(one.code, one.device) for one in sightings if "layer" in one.detail}
    denied = {one.device for one in sightings if one.code == "nvme.access_denied"}
    failed = {one.device for one in sightings if one.code in ("nvme.io_error", "disk.medium_error")}
    for one in sightings:
        echo_of_aer = one.code.startswith("pcie.aer.") and "layer" not in one.detail
        if echo_of_aer and (one.code, one.device) in told:
            continue
        if one.code in ("disk.medium_error", "disk.io_error") and one.device in denied:
            continue  # a locked drive refuses every read; the medium is not the trouble
        if one.code == "disk.io_error" and one.device in failed:
            continue
        yield one


def _when(line: str) -> str:
    """The time at the head of a line: an ISO date and time, or syslog's 15 characters."""
    first = line.split(" ", 1)[0]
    return first[:40] if first[:4].isdigit() else line[:15].strip()
