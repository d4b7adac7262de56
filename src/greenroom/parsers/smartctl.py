"""``smartctl -a`` as text or JSON (``-j``), NVMe and ATA -> SMART readings of one drive."""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers import smart_state
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.smart_state import Smart
from greenroom.parsers.texts import head, integer, lines, load_json, mapping, sequence, slug

KIND = "smartctl"
_HEALTH = re.compile(r"^SMART (?:overall-health self-assessment test result|Health Status): *(\S+)")
_FIELD = re.compile(r"^(?P<name>[A-Z][A-Za-z /]{3,50}?): {1,40}(?P<value>\S.*?)\s*$")
_ATTRIBUTE = re.compile(
    r"^\s*(?P<id>\d{1,3}) (?P<name>[\w-]{3,40})\s+0x[0-9a-fA-F]{4}\s+\d+\s+\d+\s+\S+\s+\S+\s+\S+\s+"
    r"(?P<failed>\S+)\s+(?P<raw>\d+)"
)
_SCSI = re.compile(
    r"^Elements in grown defect list: {1,4}(?P<defects>\d{1,9})\s*$|"
    r"^(?:read|write|verify):(?: {1,20}[\d.]{1,20}){6} {1,20}(?P<errors>\d{1,9})\s*$"
)
_COMMAND = re.compile(r"smartctl .{0,80}?(/dev/[\w/-]{2,40})")
_NAMES = {
    "critical_warning": "critical_warning",
    "available_spare": "spare_percent",
    "available_spare_threshold": "spare_threshold_percent",
    "percentage_used": "used_percent",
    "media_and_data_integrity_errors": "media_errors",
    "media_errors": "media_errors",
    "error_information_log_entries": "error_log_entries",
    "num_err_log_entries": "error_log_entries",
}
_SECTORS = {5: "reallocated", 187: "reported_uncorrectable", 197: "pending", 198: "uncorrectable"}
_SIGNS = ("Critical Warning:", "Available Spare:", "Percentage Used:", "Media and Data Integrity Errors:")


def recognise(text: str) -> float:
    """How sure it is smartctl."""
    start = head(text)
    if re.search(r"^smartctl \d", start, re.MULTILINE) or "START OF SMART DATA SECTION" in start:
        return 0.97
    if (
        '"smartctl"' in start
        or '"nvme_smart_health_information_log"' in start
        or '"ata_smart_attributes"' in start
    ):
        return 0.96
    signs = sum(1 for sign in _SIGNS if re.search(rf"^{sign} {{2,}}", start, re.MULTILINE))
    return 0.9 if signs or re.search(_HEALTH.pattern, start, re.MULTILINE) else 0.0


def parse_smartctl(text: str) -> Smart:
    """The readings of the drive."""
    data = mapping(load_json(text)) if "{" in text[:500] else {}
    return _from_json(data) if data else _from_text(text)


def _from_json(data: dict[str, object]) -> Smart:
    smart = Smart(device=str(mapping(data.get("device")).get("name", "")).removeprefix("/dev/"))
    smart.model = str(data.get("model_name", ""))
    passed = mapping(data.get("smart_status")).get("passed")
    smart.passed = passed if isinstance(passed, bool) else None
    smart.supported = mapping(data.get("smart_support")).get("available") is not False
    for name, value in mapping(data.get("nvme_smart_health_information_log")).items():
        _take(smart, name, value, 0, f"{name}: {value}")
    for item in sequence(mapping(data.get("ata_smart_attributes")).get("table"))[:300]:
        row = mapping(item)
        raw = integer(mapping(row.get("raw")).get("value"))
        _attribute(
            smart, integer(row.get("id")) or 0, str(row.get("name", "")), str(row.get("when_failed", "")), raw
        )
    _take_scsi(smart, data)
    return smart


def _take_scsi(smart: Smart, data: dict[str, object]) -> None:
    """SAS: defects that came after the making, and errors that reading or writing could not correct."""
    found = {"reallocated": integer(data.get("scsi_grown_defect_list"))}
    logs = mapping(data.get("scsi_error_counter_log"))
    errors = [
        count
        for log in ("read", "write", "verify")
        if (count := integer(mapping(logs.get(log)).get("total_uncorrected_errors"))) is not None
    ]
    found["uncorrectable"] = sum(errors) if errors else None
    for name, count in found.items():
        if count is not None:
            smart.sectors[name] = count
            smart.evidence[name] = f"{name}: {count}"


def _from_text(text: str) -> Smart:
    smart = Smart()
    for count, line in lines(text):
        if found := _HEALTH.match(line):
            smart.passed = found[1].rstrip("!").upper() in {"PASSED", "OK"}
            smart.line, smart.evidence["passed"] = count, line
        elif found := _ATTRIBUTE.match(line):
            failed = "now" if found["failed"] == "FAILING_NOW" else ""
            _attribute(smart, int(found["id"]), found["name"], failed, integer(found["raw"]), line)
        elif found := _SCSI.match(line):
            name = "reallocated" if found["defects"] else "uncorrectable"
            smart.sectors[name] = smart.sectors.get(name, 0) + int(found["defects"] or found["errors"])
            smart.evidence[name] = line
        elif found := _FIELD.match(line):
            if found["name"] in {"Model Number", "Device Model"}:
                smart.model = found["value"]
            _take(smart, slug(found["name"]), found["value"], count, line)
        elif found := _COMMAND.search(line):
            smart.device = smart.device or found[1].removeprefix("/dev/")
    return smart


def _take(smart: Smart, name: str, value: object, line: int, evidence: str) -> None:
    wanted, read_value = _NAMES.get(name), integer(value)
    if wanted and read_value is not None and getattr(smart, wanted) is None:
        setattr(smart, wanted, read_value)
        smart.evidence[wanted] = evidence
        smart.line = smart.line or line


def _attribute(smart: Smart, number: int, name: str, failed: str, raw: int | None, line: str = "") -> None:
    if failed == "now" and len(smart.failing_now) < 50:
        smart.failing_now.append(name)
        smart.evidence[name] = line or f"{name}: below its threshold now"
    if number in _SECTORS and raw is not None:
        smart.sectors[_SECTORS[number]] = raw
        smart.evidence[_SECTORS[number]] = line or f"{name}: {raw}"


def read(text: str) -> Reading:
    """What the report says of the drive."""
    book = Notebook(KIND)
    smart = parse_smartctl(text)
    smart_state.note(book, smart)
    if not smart.known:
        book.puzzled("no SMART reading is shown: " + text[:200])
    return book.reading()
