"""nvidia-bug-report.log: outputs of many tools in one file, between lines of underscores.

Also what other collectors write with such rules. Each section is read by the parser of its own kind.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from greenroom.model.sightings import Reading, Sighting
from greenroom.parsers.framing import peel

MAX_SECTIONS = 2_000
_RULE = re.compile(r"^_{20,200}[ \t\r]*$", re.MULTILINE)
_SIGN = re.compile(r"nvidia-bug-report\.sh|Start of NVIDIA bug report log file", re.IGNORECASE)
# The command or file that a section shows; what follows is its output.
_TITLE = re.compile(
    r"^\s*(?:\*\*\* )?(?P<title>/\S{1,200}(?: [^\n]{0,200})?|journalctl [^\n]{0,80}:?)$", re.MULTILINE
)


def split(text: str) -> list[tuple[int, str]]:
    """(line before it, text) of each section; none if it is not such a file."""
    rules = list(_RULE.finditer(text))
    if len(rules) < 2 and not _SIGN.search(text[:5_000]):
        return []
    if len(rules) < 2 or (len(rules) < 4 and not _SIGN.search(text[:5_000])):
        return []
    sections = []
    start, line = 0, 0
    for rule in [*rules[:MAX_SECTIONS], None]:
        end = rule.start() if rule else len(text)
        body = text[start:end]
        if body.strip():
            sections.append((line, body))
        line += body.count("\n")
        start = rule.end() if rule else end
    return sections


def title(section: str) -> str:
    """The command that printed the section; empty if it does not say."""
    found = _TITLE.search(section[:1_000])
    return found["title"].strip(" :") if found else ""


def merge(readings: Iterable[tuple[int, Reading]]) -> Iterator[Reading]:
    """The readings of the sections, with the lines of the whole; what two sections tell counts once."""
    most: Counter[tuple[str, str, str]] = Counter()
    for before, reading in readings:
        here: Counter[tuple[str, str, str]] = Counter()
        kept: list[Sighting] = []
        for one in reading.sightings:
            key = (one.code, one.device, peel(one.evidence).text[:200])
            here[key] += 1
            if here[key] > most[key]:  # the journal and dmesg hold the same lines
                kept.append(replace(one, line=one.line + before))
        most |= here
        yield replace(reading, sightings=tuple(kept))
