"""The table that plain ``nvidia-smi`` prints, the list of ``nvidia-smi -L``, and its error messages."""

from __future__ import annotations

import re
from dataclasses import dataclass

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.nvml_words import UNREADABLE, find_error
from greenroom.parsers.texts import head, integer, lines, pci_address

KIND = "nvidia-smi"
_FIRST = re.compile(
    r"^\|\s+(?P<index>\d{1,3})\s+(?P<name>\S.*?)\s+(?:On|Off|N/A|ERR!)\s*\|"
    r"\s*(?P<bus>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f:.]+)\s+\S+\s*\|\s*(?P<ecc>\S+)\s*\|"
)
_SECOND = re.compile(
    r"^\|\s*(?P<fan>\S+)\s+(?P<temp>\S+)\s+(?P<perf>\S+)\s+(?P<power>\S.*?)\|(?P<memory>[^|]*)\|(?P<use>[^|]*)\|"
)
_LISTED = re.compile(r"^\s*GPU (?P<index>\d{1,3}): (?P<name>.+?) \(UUID: (?P<uuid>[^)]*)\)\s*$")
_MESSAGE = re.compile(
    r"unable to determine the device handle|failed to initialize nvml|nvidia-smi has failed|"
    r"no devices were found|gpu is lost|gpu requires reset|nvml library version|"
    r"unable to retrieve|corrupted inforom|infoROM is corrupted|unknown error",
    re.IGNORECASE,
)
_NVIDIA = re.compile(r"nvidia|nvml|\bgpu\b", re.IGNORECASE)
_ERR_IN_PROSE = re.compile(r"(?P<what>fan|temp\w*|perf|power)[^|]{0,40}\bERR!", re.IGNORECASE)


@dataclass(slots=True)
class TableRow:
    """One GPU of the table. Values as printed."""

    index: int
    name: str
    device: str
    ecc: str
    line: int
    evidence: str
    failed: tuple[str, ...] = ()
    """Columns that show ``ERR!``."""


def recognise(text: str) -> float:
    """How sure it is the table, the list or a message of nvidia-smi."""
    start = head(text)
    if "| NVIDIA-SMI " in start or re.search(r"\|\s*GPU\s+Name.*Bus-Id", start):
        return 0.95
    if any(_FIRST.match(line) for line in start.split("\n")[:64]):
        return 0.8
    if "NVIDIA-SMI has failed" in start or "Failed to initialize NVML" in start:
        return 0.9
    if re.search(r"unable to determine the device handle for", start, re.IGNORECASE):
        return 0.8
    if re.match(r"\s*No devices were found", start):
        return 0.8
    listed = sum(1 for line in start.split("\n")[:64] if _LISTED.match(line))
    if listed and "Link " not in start and "inActive" not in start:
        return 0.7
    if "ERR!" in start and _NVIDIA.search(start) and "," not in start.split("\n", 1)[0][:20]:
        return 0.5
    return 0.0


def parse_table(text: str) -> list[TableRow]:
    """The GPUs of the table."""
    rows: list[TableRow] = []
    for count, line in lines(text):
        if found := _FIRST.match(line):
            rows.append(
                TableRow(
                    index=int(found["index"]),
                    name=found["name"].rstrip("."),
                    device=pci_address(found["bus"]) or f"gpu:{found['index']}",
                    ecc=found["ecc"],
                    line=count,
                    evidence=line.strip(),
                )
            )
        elif rows and not rows[-1].failed and count == rows[-1].line + 1 and (cells := _SECOND.match(line)):
            rows[-1].failed = tuple(name for name, value in cells.groupdict().items() if "ERR!" in value)
            if rows[-1].failed:
                rows[-1].evidence = line.strip()
    return rows


def read(text: str) -> Reading:
    """What the output says: GPUs that are well, readings that fail, errors in words."""
    book = Notebook(KIND)
    rows = parse_table(text)
    for row in rows:
        _note(book, row)
    errors: set[tuple[str, str]] = set()
    for count, line in lines(text):
        if _LISTED.match(line):
            book.ok()
        elif _MESSAGE.search(line) and (error := find_error(line)):
            if (error.code, error.device) not in errors:
                errors.add((error.code, error.device))
                book.add(error.code, error.device, line=count, evidence=line)
        elif not rows and (odd := _ERR_IN_PROSE.search(line)):
            index = re.search(r"\bGPU (\d{1,3})\b", line)
            book.add(
                UNREADABLE,
                f"gpu:{index[1]}" if index else "",
                line=count,
                evidence=line,
                sensor=odd["what"].lower(),
            )
    if not rows and not errors and not book.healthy and not book.sightings:
        book.puzzled("no GPU and no message of nvidia-smi: " + text[:100])
    return book.reading()


def _note(book: Notebook, row: TableRow) -> None:
    uncorrected = integer(row.ecc) or 0
    if row.ecc == "ERR!" or len(row.failed) >= 3:
        book.add("nvml.999", row.device, line=row.line, evidence=row.evidence, index=row.index)
    elif row.failed:
        sensors = ",".join(row.failed)
        book.add(
            UNREADABLE, row.device, line=row.line, evidence=row.evidence, sensor=sensors, index=row.index
        )
    if uncorrected > 0:
        book.add(
            "gpu.ecc.uncorrectable",
            row.device,
            line=row.line,
            evidence=row.evidence,
            errors=uncorrected,
            index=row.index,
        )
    elif not row.failed and row.ecc != "ERR!":
        book.ok()
