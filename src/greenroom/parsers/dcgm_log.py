"""Lines of DCGM's own log, and of what reports its error names: ``DCGM_FR_...`` in any text."""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers.dcgm_words import CAN_BE_ABSENT, SAYS_ABSENT, find_gpu, find_names, find_phrase
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, lines

KIND = "dcgm-log"
_HEALTH = re.compile(r"Detected an? (?P<level>\w+) in health system (?P<system>\w+): ?(?P<text>.*)$")
_NAMED = re.compile(r"\bDCGM_FR_[A-Z]")
# nv-hostengine.log: date, level, [process:thread], [[module]]
_OWN = re.compile(
    r"^.{0,40}\b(?:VERB|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\s+\[\d+:\d+\] \[\[\w", re.MULTILINE
)
_SAYS_PASS = re.compile(r"\bstatus (?:of )?PASS\b|\bPASS\b")


def recognise(text: str) -> float:
    """How sure it is such a log. Low on purpose: the names stand in other outputs too."""
    start = head(text)
    if _HEALTH.search(start):
        return 0.9
    if _NAMED.search(start):
        return 0.6
    return 0.7 if _OWN.search(start) else 0.0


def read(text: str) -> Reading:
    """Each error name, and each report of a health watch."""
    book = Notebook(KIND)
    for count, line in lines(text):
        if found := _HEALTH.search(line):
            code = find_phrase(found["text"]) or f"dcgm.health.{found['system'].lower()}"
            device = find_gpu(found["text"])
            book.add(code, device, line=count, evidence=line, system=found["system"], level=found["level"])
            continue
        for code, name in find_names(line):
            passed = "pass" if _SAYS_PASS.search(line) else None
            if code in CAN_BE_ABSENT and SAYS_ABSENT.search(line):
                code = f"{code}.unsupported"  # noqa: PLW2901 - the same report, read whole
            book.add(code, find_gpu(line), line=count, evidence=line, name=name, status=passed)
        if _OWN.match(line) and not re.search(r"\b(?:ERROR|FATAL)\b", line[:60]):
            book.ok()
    if not book.sightings and not book.healthy:
        book.puzzled("no report of DCGM: " + text[:100])
    return book.reading()
