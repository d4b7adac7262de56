"""``nvme smart-log`` as text or JSON -> SMART readings of one drive."""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers import smart_state
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.smart_state import Smart
from greenroom.parsers.texts import head, integer, lines, load_json, mapping

KIND = "nvme-smart"
_DEVICE = re.compile(r"^Smart Log for NVME device:(\S{1,64})", re.IGNORECASE)
_FIELD = re.compile(r"^(?P<name>[a-z][a-z_ ]{3,40}?)\s*: (?P<value>.+?)\s*$", re.IGNORECASE)
_NAMES = {
    "critical_warning": "critical_warning",
    "available_spare": "spare_percent",
    "avail_spare": "spare_percent",
    "available_spare_threshold": "spare_threshold_percent",
    "spare_thresh": "spare_threshold_percent",
    "percentage_used": "used_percent",
    "percent_used": "used_percent",
    "media_errors": "media_errors",
    "num_err_log_entries": "error_log_entries",
}
_MEDIA = re.compile(
    r"^(?:percentage_used|percent_used|num_err_log_entries|media_errors|avail(?:able)?_spare)\s*:",
    re.MULTILINE,
)


def recognise(text: str) -> float:
    """How sure it is a smart-log of nvme-cli."""
    start = head(text)
    if _DEVICE.search(start) or re.search(r"^Smart Log for NVME", start, re.MULTILINE):
        return 0.97
    if '"critical_warning"' in start and ('"avail_spare"' in start or '"percent_used"' in start):
        return 0.95
    return 0.8 if _MEDIA.search(start) else 0.0


def parse_smart_log(text: str) -> Smart:
    """The readings of the drive."""
    data = mapping(load_json(text)) if "{" in text[:500] else {}
    smart = Smart()
    if data:
        for name, value in data.items():
            inner = mapping(value)
            _take(smart, name, inner.get("value", value), 0, f"{name}: {value}")
        return smart
    for count, line in lines(text):
        if found := _DEVICE.match(line):
            smart.device = found[1].removeprefix("/dev/")
        elif found := _FIELD.match(line):
            _take(smart, found["name"].strip().lower().replace(" ", "_"), found["value"], count, line)
    return smart


def _take(smart: Smart, name: str, value: object, line: int, evidence: str) -> None:
    wanted, read_value = _NAMES.get(name), integer(value)
    if wanted and read_value is not None and getattr(smart, wanted) is None:
        setattr(smart, wanted, read_value)
        smart.evidence[wanted] = evidence
        smart.line = smart.line or line


def read(text: str) -> Reading:
    """What the log says of the drive."""
    book = Notebook(KIND)
    smart = parse_smart_log(text)
    smart_state.note(book, smart)
    if not smart.known:
        book.puzzled("no SMART reading is shown: " + text[:100])
    return book.reading()
