"""The table that ``dcgmi diag`` prints (DCGM 2 to 4) -> the result of every line.

Long texts are broken at a fixed width, also within words, and go on in the next row, whose first
cell is empty.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from greenroom.model.sightings import Reading
from greenroom.parsers.dcgm_words import find_gpu, find_phrase
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, lines, slug

KIND = "dcgmi-diag"
_ROW = re.compile(r"^\|(?P<name>[^|]*)\|(?P<value>[^|]*)\|\s*$")
_STATUS = re.compile(
    r"^(?:GPU ?(?P<gpu>\d{1,3}): )?(?P<status>Pass|Fail|Warn|Skip|Not Run)\b(?: - (?P<which>.*))?",
    re.IGNORECASE,
)
_MESSAGE = re.compile(r"^(?:Warning|Error|Info|Errors?)\b", re.IGNORECASE)
_GPUS = re.compile(r"\d{1,3}")
_MAX_MESSAGE_CHARS = 2000
_NOT_TESTS = frozenset({"diagnostic", "dcgm version", "driver version detected", "gpu device ids detected"})


@dataclass(slots=True)
class Row:
    """One test, with the messages below it."""

    test: str
    status: str
    gpus: list[str]
    """``gpu:0``; empty: all that took part."""
    line: int
    evidence: str
    messages: list[str] = field(default_factory=list)


def recognise(text: str) -> float:
    """How sure it is this table."""
    start = head(text)
    if "Successfully ran diagnostic" in start or re.search(r"^\| Diagnostic +\| Result", start, re.MULTILINE):
        return 0.95
    shaped = re.findall(r"^\|[^|]*\| *(?:Pass|Fail|Skip|Warn)\b[^|]*\|[ \t]*$", start, re.MULTILINE)
    if shaped:
        return 0.8
    unable = (
        r"Unable to (?:complete|launch) .{0,30}diagnostic"
        r"|unable to establish a connection to the specified host"
    )
    return 0.6 if re.search(unable, start, re.IGNORECASE) else 0.0


def parse_table(text: str) -> list[Row]:
    """The tests in the order printed."""
    rows: list[Row] = []
    message, full, brim = "", False, False
    for count, line in lines(text):
        found = _ROW.match(line)
        if not found:
            message = ""
            continue
        name, value = found["name"].strip(), found["value"].strip()
        full, brim = brim, len(found["value"]) - len(found["value"].rstrip()) <= 1
        status = _STATUS.match(value)
        if name.lower() in _NOT_TESTS or name.startswith("==="):
            continue
        if _MESSAGE.match(name) and rows:
            message = "open"
            rows[-1].messages.append(
                f"{name}: {value}" if name.lower() not in {"warning", "error"} else value
            )
        elif status and (name or (rows and status["gpu"])):
            message = ""
            gpus = [status["gpu"]] if status["gpu"] else _named(status["which"] or "")
            test = name or rows[-1].test
            rows.append(
                Row(
                    test=test,
                    status=status["status"].lower(),
                    gpus=[f"gpu:{gpu}" for gpu in gpus],
                    line=count,
                    evidence=line.strip(),
                )
            )
        elif not name and message and rows and rows[-1].messages:
            if len(rows[-1].messages[-1]) < _MAX_MESSAGE_CHARS:
                # a cell that is full to the brim was cut there, be it in the middle of a word
                rows[-1].messages[-1] += found["value"].strip("\t")[1:].rstrip() if full else " " + value
        elif not name and rows and re.match(r"^(?:GPUs?: )?[\d, ]+$", value):
            rows[-1].gpus += [f"gpu:{gpu}" for gpu in _GPUS.findall(value)]
    return rows


def _named(which: str) -> list[str]:
    return _GPUS.findall(which) if "gpu" in which.lower() else []


def read(text: str) -> Reading:
    """What each test says of each GPU."""
    book = Notebook(KIND)
    rows = parse_table(text)
    for row in rows:
        _note(book, row)
    if not rows:
        book.puzzled("the diagnostic shows no result: " + " ".join(text[:300].split()))
    return book.reading()


def _note(book: Notebook, row: Row) -> None:
    failed = row.status in {"fail", "warn"}
    errors = [text for text in row.messages if not text.lower().startswith("info")]
    for text in errors:
        named = find_gpu(text)
        for device in [named] if named else row.gpus or [""]:
            code = find_phrase(text) or f"dcgm.test.{slug(row.test)}"
            evidence = f"{row.test}: {row.status}: {text}"
            book.add(code, device, line=row.line, evidence=evidence, test=row.test, status=row.status)
    told = {find_gpu(text) for text in errors}
    for device in row.gpus or [""]:
        if failed and device not in told and not (errors and device == ""):
            code = f"dcgm.test.{slug(row.test)}"
            book.add(code, device, line=row.line, evidence=row.evidence, test=row.test, status=row.status)
        elif row.status == "pass" and not errors:
            book.ok()
        elif row.status in {"skip", "not run"}:
            book.puzzled(f"not tested: {row.test} {device}: {row.status}")
