"""Messages of the kernel -> sightings, where it takes several to know: echoes, details on later lines."""

# ruff: noqa: E501 - patterns, one a line

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from greenroom.model.sightings import Sighting
from greenroom.parsers import aer, kernel_faults
from greenroom.parsers.entries import Entry
from greenroom.parsers.framing import Head
from greenroom.parsers.kernel_log import Record, find_xids, pci_address

MAX_PUZZLES = 20
NEAR_LINES = 12
"""Details of a report stand on the lines right behind it."""
_SXID = re.compile(
    r"nvidia-nvswitch\d*: ?SXid \((?P<device>[^)]{0,60})\): {0,3}(?P<code>\d{1,6})(?!\d)[, ]{0,3}(?P<detail>.{0,300})"
)
_FALLEN = re.compile(
    r"GPU (?:at )?(?:PCI:)?(?P<device>[0-9a-fA-F:.]{7,16})?.{0,40}fallen off the bus|fallen off the bus",
    re.IGNORECASE,
)
_NAMED_GPU = re.compile(r"NVRM: The NVIDIA GPU (?P<device>[0-9a-fA-F:.]{7,16})")
_UPTIME = re.compile(r"\[ *(\d{1,9}\.\d{6})\]")
_AER_BIT = re.compile(
    r"(?P<device>[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]): (?:AER: )? {2,6}\[ ?(?P<bit>\d{1,2})\] (?P<name>\w+)"
)
_AER_STATUS = re.compile(
    r"(?P<device>[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]):.{0,12} device \[\w{4}:\w{4}\] error status/mask=(?P<status>[0-9a-f]{8})/(?P<mask>[0-9a-f]{8})"
)
_CPER_DETAIL = re.compile(
    r"\{(?P<event>\d{1,6})\}\[Hardware Error\]:\s+(?:section_type: (?P<section>[\w ,/-]{1,60})|device_id: (?P<device>[0-9a-f:.]{7,16}))"
)
_CPER_EVENT = re.compile(r"\{(\d{1,6})\}\[Hardware Error\]")
_MCE_STATUS = re.compile(
    r"Machine Check(?: Event)?: \d{1,3} Bank (?P<bank>\d{1,3}): (?P<status>[0-9a-f]{16})", re.IGNORECASE
)
_UNCORRECTED, _DEFERRED = 1 << 61, 1 << 44
_TIMES = re.compile(r"\(x(\d{1,6}) over ")
_TROUBLE = re.compile(
    r"\bS?Xid[ =:#]{1,2}\(?(?:\d|PCI)|"
    r"NVRM:.{0,200}(?:\bfail(?:ed|ure)\b|\berror\b|timed out|timeout (?:after|waiting)|assert|\bfatal error|\blost\b|is locked)|"
    r"nvidia-nvswitch.{0,120}(?:\bfatal error|\berror\b|\bfailed\b)|"
    r"(?:mlx5_core|nvme|amdgpu|bnxt_en|pcieport) ?\S.{0,160}(?:\bfatal error|unrecover|uncorrectable error|\bdead\b|\*ERROR\*|timed out)|"
    r"\[Hardware Error\].{0,80}(?:\bfatal|uncorrect)|uncorrect(?:ed|able) (?:hardware|memory|ecc) error",
    re.IGNORECASE,
)
_ORDINARY = re.compile(
    r"\b(?:enabled|disabled|supported|no (?:\w+ )?errors?|0 errors?|without error|error handling|loading|registered|logged)\b",
    re.IGNORECASE,
)


class Reports:
    """The sightings of a log, in its order."""

    def __init__(self) -> None:
        self.sightings: list[Sighting] = []
        self.puzzles: list[str] = []
        self._named: tuple[int, str] = (-NEAR_LINES, "")
        self._last: Entry | None = None

    def take(self, entry: Entry) -> bool:
        """Look at a message; whether it is an ordinary one."""
        best: list[Sighting] = []
        for head in (entry.head, *entry.others):
            text = head.text
            low = text.lower()
            if not text or not kernel_faults.hinted(low):
                continue
            found = self._find(entry, head)
            if _worth(found) > _worth(best):
                best = found
        if best:
            self.sightings += best
        else:
            self._detail(entry)
        self._last = entry
        return not best and not self._puzzle(entry)

    def _find(self, entry: Entry, head: Head) -> list[Sighting]:
        text = head.text
        head = self._inherited(entry, head)
        uptime_s = head.uptime_s
        if uptime_s is None and head.at is None and (inner := _UPTIME.search(text)):
            uptime_s = float(inner[1])
        found: list[tuple[str, str, int, dict[str, Any]]] = [
            (f"gpu.xid.{xid.code}", xid.device, 1, {} if xid.recovery is None else {"recovery": xid.recovery})
            for xid in find_xids([Record(uptime_s=uptime_s, text=text)])
        ]
        if named := _NAMED_GPU.search(text):
            self._named = (entry.number, pci_address(named["device"]))
        if match := _SXID.search(text):
            fatal = re.match(r"(Non-fatal|Fatal)", match["detail"], re.IGNORECASE)
            detail = {"fatal": fatal[1].lower() == "fatal"} if fatal else {}
            found.append((f"nvswitch.sxid.{int(match['code'])}", pci_address(match["device"]), 1, detail))
        if not found and _fell(text):
            found.append(("gpu.xid.79", pci_address(text), 1, {}))
        found = [self._with_device(entry, one) for one in found]
        if not found:
            found = [(one.code, one.device, one.count, dict(one.detail)) for one in kernel_faults.find(text)]
        if not found and (mce := _MCE_STATUS.search(text)):
            found.append(
                (_mce_code(int(mce["status"], 16)), "", 1, {"bank": mce["bank"], "status": mce["status"]})
            )
        many = _TIMES.search(entry.raw) if found else None
        return [
            Sighting(
                code=code,
                device=device,
                count=max(count, int(many[1]) if many else 1),
                at=head.at,
                uptime_s=uptime_s,
                when=head.when,
                line=entry.number,
                detail={**detail, "host": head.host} if head.host else detail,
                evidence=entry.raw.strip()[:500] or text[:500],
            )
            for code, device, count, detail in found
        ]

    def _inherited(self, entry: Entry, head: Head) -> Head:
        """A line without a head of its own right behind another belongs to it: dmesg prints records so."""
        last = self._last
        if (
            head.headed
            or last is None
            or last.number + 1 != entry.number
            or not head.text.lstrip().startswith("NVRM")
        ):
            return head
        above = last.head
        return replace(
            head, host=head.host or above.host, at=above.at, uptime_s=above.uptime_s, when=above.when
        )

    def _with_device(
        self, entry: Entry, one: tuple[str, str, int, dict[str, Any]]
    ) -> tuple[str, str, int, dict[str, Any]]:
        number, device = self._named
        if one[0] == "gpu.xid.79" and not one[1] and 0 <= entry.number - number <= 3:
            return (one[0], device, one[2], one[3])
        return one

    def _detail(self, entry: Entry) -> None:
        """What a later line of a report says of it."""
        if not self.sightings or entry.number - self.sightings[-1].line > NEAR_LINES:
            return
        text = entry.head.text
        if found := _AER_BIT.search(text):
            self._note_bits(found["device"], 1 << min(31, int(found["bit"])))
        elif found := _AER_STATUS.search(text):
            self._note_bits(found["device"], int(found["status"], 16) & ~int(found["mask"], 16))
        elif found := _CPER_DETAIL.search(text):
            last = self.sightings[-1]
            event = _CPER_EVENT.search(last.evidence)
            if last.code.startswith("host.cper") and event and event[1] == found["event"]:
                detail = {
                    **last.detail,
                    **({"section": found["section"].strip()} if found["section"] else {}),
                }
                device = pci_address(found["device"] or "") or last.device
                self.sightings[-1] = replace(last, device=device, detail=detail)

    def _note_bits(self, device: str, status: int) -> None:
        """Which kind of error a report of AER is about."""
        address = kernel_faults.device_of(device)
        for index in range(len(self.sightings) - 1, max(-1, len(self.sightings) - 8), -1):
            one = self.sightings[index]
            if one.code.startswith("pcie.aer.") and one.device == address:
                code = aer.named(one.code, status)
                detail = {**one.detail, "status": f"0x{status:08x}"}
                self.sightings[index] = replace(one, code=code, detail=detail)
                if "layer" in one.detail:
                    return

    def _puzzle(self, entry: Entry) -> bool:
        """Whether it looks like trouble and no rule knows it."""
        text = entry.head.text[:500]
        odd = _TROUBLE.search(text) is not None and not _ORDINARY.search(text)
        if odd and len(self.puzzles) < MAX_PUZZLES:
            self.puzzles.append(entry.raw.strip()[:200])
        return odd

    def without_echoes(self) -> Iterator[Sighting]:
        """One line a trouble, where the kernel writes several about it."""
        told = {(_host(one), one.device) for one in self.sightings if "layer" in one.detail}
        denied = {(_host(one), one.device) for one in self.sightings if one.code == "nvme.access_denied"}
        broken = ("nvme.io_error", "disk.medium_error")
        failed = {(_host(one), one.device) for one in self.sightings if one.code in broken}
        for one in self.sightings:
            place = (_host(one), one.device)
            if one.code.startswith("pcie.aer.") and "layer" not in one.detail and place in told:
                continue
            if one.code in ("disk.medium_error", "disk.io_error") and place in denied:
                continue  # a locked drive refuses every read; the medium is not the trouble
            if one.code == "disk.io_error" and place in failed:
                continue
            yield one


def _host(sighting: Sighting) -> str:
    return str(sighting.detail.get("host", ""))


def _worth(found: list[Sighting]) -> tuple[int, int]:
    """More is better, and a named device. Of equals the first way of reading counts."""
    return len(found), sum(bool(one.device) for one in found)


def _fell(text: str) -> bool:
    """The words of the driver, not of a person or a manual: they name a GPU, or stand alone."""
    found = _FALLEN.search(text)
    return bool(found) and (
        bool(found and found["device"])
        or bool(re.match(r"\s*(?:NVRM: ?)?(?:GPU (?:has )?)?fallen off", text))
    )


def _mce_code(status: int) -> str:
    if status & _UNCORRECTED:
        return "host.mce.uncorrected"
    return "host.mce.deferred" if status & _DEFERRED else "host.mce.corrected"
