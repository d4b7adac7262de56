"""``xpu-smi health|stats|diag|discovery`` of Intel, table or JSON.

Its summary table and its own detailed commands may contradict each other on the ECC state; the
detailed one (Sysman) is right.
"""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, integer, leaves, lines, load_json, slug

KIND = "xpu-smi"
_SIGNS = re.compile(
    r"XPU[- ]SMI|xpu-smi|Intel\(R\) (?:Arc|Data Center GPU|Iris|Flex)|XPUM_|xpum", re.IGNORECASE
)
_ROW = re.compile(r"^\s*\|(?P<name>[^|]*)\|(?P<value>.*)\|\s*$")
_STATUS = re.compile(r"^(?:\d\. ?)?Status: ?(?P<status>\w+)", re.IGNORECASE)
_RESULT = re.compile(r"Result: ?(?P<status>\w+)", re.IGNORECASE)
_ECC = re.compile(r"ECC State: *(?P<state>\w+)", re.IGNORECASE)
_BAD = frozenset({"warning", "critical", "fail", "failed", "no"})
_WELL = frozenset({"ok", "pass", "passed", "normal"})


def recognise(text: str) -> float:
    """How sure it is xpu-smi."""
    start = head(text)
    if re.search(
        r'"(?:core_temperature|memory_temperature|xe_link_port|device_level|component_list)"\s*:', start
    ):
        return 0.93
    if re.search(r"\|\s*Device ID\s*\|", start) or (_SIGNS.search(start) and "|" in start):
        return 0.85
    return 0.6 if _ECC.search(start) else 0.0


def read(text: str) -> Reading:
    """Components whose status is not OK, tests that failed, memory errors that were not corrected."""
    book = Notebook(KIND)
    data = load_json(text)
    if data is None:
        _read_table(book, text)
    else:
        _read_json(book, data)
    if not book.sightings and not book.healthy:
        book.puzzled("no status of a device is shown: " + text[:100])
    return book.reading()


def _read_table(book: Notebook, text: str) -> None:
    device, component = "", ""
    states = {found["state"].lower() for _, line in lines(text) if (found := _ECC.search(line))}
    for count, line in lines(text):
        found = _ROW.match(line)
        if not found:
            continue
        name, value = found["name"].strip(), found["value"].strip().split("|")[0].strip()
        if name == "Device ID" and (number := integer(value)) is not None:
            device = f"gpu:{number}"
        elif name:
            component = name.lstrip("0123456789. ")
        status = _STATUS.search(value) or _RESULT.search(value)
        if status:
            _judge(book, device, component, status["status"], count, line)
        elif (
            re.search(r"uncorrectable errors?", name + value, re.IGNORECASE)
            and (integer(value.rsplit(":")[-1]) or 0) > 0
        ):
            book.add(
                "gpu.intel.ecc.uncorrectable",
                device,
                line=count,
                evidence=line,
                errors=integer(value.rsplit(":")[-1]),
            )
        elif re.match(r"\d+\s+Intel\(R\)", name) or "Device Name" in value:
            book.ok()
    if "enabled" in states and not book.sightings:
        book.ok()
    elif "disabled" in states:
        book.add("gpu.intel.ecc.disabled", device, evidence="ECC State: disabled")


def _judge(book: Notebook, device: str, component: str, status: str, line: int, evidence: str) -> None:
    word = status.lower()
    if word in _BAD:
        code = f"gpu.intel.health.{slug(component) or 'device'}"
        book.add(code, device, line=line, evidence=evidence, component=component, status=status)
    elif word in _WELL:
        book.ok()
    else:
        book.puzzled(f"{device} {component}: status {status}")


def _read_json(book: Notebook, data: object) -> None:
    flat = list(leaves(data, most=50_000))
    device = next((f"gpu:{value}" for path, value in flat if path and path[-1] == "device_id"), "")
    for path, value in flat:
        last = path[-1] if path else ""
        if last in {"status", "result"} and isinstance(value, str):
            component = next((name for name in reversed(path[:-1]) if not name.isdigit()), "")
            _judge(book, device, component, re.split(r"[_ ]", value)[-1], 0, f"{'/'.join(path)}: {value}")
        elif "UNCORRECTABLE" in str(value).upper() and last == "metrics_type":
            number = next((item for where, item in flat if where == (*path[:-1], "value")), None)
            if (integer(number) or 0) > 0:
                book.add(
                    "gpu.intel.ecc.uncorrectable",
                    device,
                    evidence=f"{value}: {number}",
                    errors=integer(number),
                )
