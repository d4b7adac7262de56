"""The log of NVIDIA's fabric manager (its own file, or the journal of its service).

On a machine without NVSwitch the service fails by design: "nothing to do".
"""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, lines, pci_address

KIND = "fabricmanager"
_OWN = re.compile(
    r"^\[(?P<when>[A-Z][a-z]{2} +\d{1,2} \d{4} [\d:]{8})\] \[(?P<level>[A-Z]+)\] "
    r"(?:\[tid \d+\] )?(?P<text>.*)$"
)
_SERVICE = re.compile(r"nvidia-fabricmanager|nv-fabricmanager|fabricmanager-start")
_UNIT_FAILED = re.compile(r"code=exited,? status=(?!0)\d+|Failed with result|Failed to start", re.IGNORECASE)
_WELL = re.compile(r"success|configured all|\bstarted\b", re.IGNORECASE)
_BAD_LEVELS = frozenset({"ERROR", "CRITICAL", "FATAL", "WARNING"})
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), code)
    for pattern, code in (
        (r"nothing[ _]to[ _]do", "fabric.nothing_to_do"),
        (
            r"don'?t match with driver|version mismatch|versions? .{0,80}(?:not|n't) match",
            "fabric.version_mismatch",
        ),
        (r"non[- ]?fatal", "fabric.nvlink.nonfatal"),
        (r"nvswitch.{0,60}\bfatal|\bfatal.{0,60}nvswitch", "fabric.nvswitch.fatal"),
        (r"\bfatal\b", "fabric.fatal"),
        (r"trunk.{0,40}(?:fail|error|down)", "fabric.trunk.failed"),
        (
            r"(?:access link|nvlink).{0,80}(?:fail|error|not trained|down)|fail\w*.{0,60}nvlink",
            "fabric.nvlink.failed",
        ),
        (r"degraded", "fabric.degraded"),
        (r"unable to|failed|error", "fabric.error"),
    )
)


def recognise(text: str) -> float:
    """How sure it is the fabric manager's log."""
    start = head(text)
    if re.search(r"Fabric Manager (?:version|detected|started|node|successfully)", start, re.IGNORECASE):
        return 0.9
    if _SERVICE.search(start):
        return 0.85
    return 0.7 if any(_OWN.match(line) for line in start.split("\n")[:50]) else 0.0


def read(text: str) -> Reading:
    """Errors and warnings; a successful start counts as well."""
    book = Notebook(KIND)
    nothing_to_do = re.search(r"nothing[ _]to[ _]do", text, re.IGNORECASE) is not None
    for count, line in lines(text):
        own = _OWN.match(line)
        words = own["text"] if own else line
        if own and own["level"] not in _BAD_LEVELS:
            book.ok(bool(_WELL.search(words)))
            continue
        if not own and not _SERVICE.search(line):
            continue
        if not own and _UNIT_FAILED.search(line):
            # The unit's failure is the consequence of having nothing to do, if it says so.
            if not nothing_to_do:
                book.add("fabric.service.failed", line=count, evidence=line)
            continue
        code = next((code for pattern, code in _RULES if pattern.search(words)), "")
        book.ok(not code and not own and bool(_WELL.search(words)))
        if code or (own and own["level"] != "WARNING"):
            when, level = (own["when"], own["level"]) if own else ("", None)
            book.add(
                code or "fabric.error", pci_address(words), line=count, evidence=line, when=when, level=level
            )
    if not book.sightings and not book.healthy:
        book.puzzled("no word of the fabric manager: " + text[:100])
    return book.reading()
