"""Kernel log text -> records, and the Xids of the NVIDIA driver among them.

Reads the records of /dev/kmsg (``prio,seq,usec,flags;text``, kernel's dev-kmsg ABI) and the lines
that ``dmesg`` prints (``[  12.345] text``). Xid lines: docs.nvidia.com/deploy/xid-errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_KMSG = re.compile(r"^\d+,\d+,(\d+),[^;]*;(.*)$")
_DMESG = re.compile(r"^(?:<\d+>)?\[\s*(\d+\.\d+)\](?:\[[^\]]*\])?\s?(.*)$")
# In the brackets: PCI:0000:1a:00, with .0, with " GPU-I:05" under MIG, or nothing readable.
# The number is followed by a comma, or the line is cut behind it; a broken line must not cut the number.
_XID = re.compile(
    r"\bXid ?\((?P<device>[^)]{0,80})\):? {0,3}(?P<code>\d{1,6})(?P<detail>\s*(?:[,.].*)?)$", re.DOTALL
)
_BDF = re.compile(r"(?:([0-9a-fA-F]{4,8}):)?([0-9a-fA-F]{2}):([0-9a-fA-F]{2})(?:\.[0-7])?")
_FALLEN = re.compile(r"fallen off the bus", re.IGNORECASE)
_RECOVERY = re.compile(r"recovery action changed from \S+ .*?to 0x([0-9a-fA-F]+)", re.IGNORECASE)
XID_FALLEN_OFF = 79
XID_RECOVERY_ACTION = 154


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One message of the kernel."""

    uptime_s: float | None
    """Seconds since the boot; None where the line does not say."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Xid:
    """One report of the NVIDIA driver."""

    code: int
    device: str
    """PCI address ``0000:1a:00``, lower case; empty where the line does not say."""
    uptime_s: float | None
    recovery: int | None
    """The recovery the driver asks for (Xid 154), as the driver numbers it; None: it asks for none."""
    line: str


def parse_records(text: str) -> list[Record]:
    """The messages, each whole: a continuation line belongs to the one before it."""
    records: list[Record] = []
    for line in text.splitlines():
        if line.startswith(" ") and records and "=" in line:
            continue  # /dev/kmsg's dictionary lines: SUBSYSTEM=, DEVICE=
        record = _read_record(line)
        if record.uptime_s is None and records and line.startswith("NVRM:"):
            # dmesg prints the later lines of one message without a time
            last = records.pop()
            record = Record(uptime_s=last.uptime_s, text=f"{last.text}\n{line}")
        if record.text:
            records.append(record)
    return records


def find_xids(records: Iterable[Record]) -> Iterator[Xid]:
    """The driver's reports, in the order of the log; switch reports (SXid) are others and not taken."""
    for record in records:
        match = _XID.search(record.text)
        if match:
            code = int(match["code"])
            recovery = _recovery(match["detail"]) if code == XID_RECOVERY_ACTION else None
            device = match["device"]
        elif "NVRM" in record.text and _FALLEN.search(record.text):
            # A GPU that was lost while idle: the driver says so in three lines and gives no number.
            code, recovery, device = XID_FALLEN_OFF, None, record.text
        else:
            continue
        yield Xid(
            code=code,
            device=pci_address(device),
            uptime_s=record.uptime_s,
            recovery=recovery,
            line=record.text.replace("\n", " | ")[:300],
        )


def pci_address(text: str) -> str:
    """The first PCI address in the text as ``0000:1a:00`` (one spelling for all tools), or empty."""
    match = _BDF.search(text)
    if not match:
        return ""
    domain, bus, device = match.groups()
    return f"{int(domain or '0', 16):04x}:{bus.lower()}:{device.lower()}"


def _read_record(line: str) -> Record:
    if match := _KMSG.match(line):
        # \x0a is how /dev/kmsg writes a line break within one message
        return Record(uptime_s=int(match[1]) / 1e6, text=match[2].replace("\\x0a", "\n"))
    if match := _DMESG.match(line):
        return Record(uptime_s=float(match[1]), text=match[2])
    return Record(uptime_s=None, text=line)


def _recovery(detail: str) -> int | None:
    match = _RECOVERY.search(detail)
    return int(match[1], 16) or None if match else None
