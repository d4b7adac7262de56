"""``rocm-smi --json`` (``card0``: readings by long names), and its RAS and retired-page texts."""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, integer, lines, load_json, mapping

KIND = "rocm-smi"
_CARD = re.compile(r"^card(\d{1,4})$")
_TEXT_CARD = re.compile(r"^GPU\[(\d{1,4})\]\s*: *(?P<rest>.*)$")
_UNCORRECTED = re.compile(r"uncorrect(?:able|ed)", re.IGNORECASE)
_FAILED = re.compile(r"\b(?:ERROR|failed to|Unable to)\b", re.IGNORECASE)


def recognise(text: str) -> float:
    """How sure it is rocm-smi."""
    start = head(text)
    if re.search(r'"card\d+": ?\{', start):
        return 0.95
    if "ROCm System Management Interface" in start or re.search(r"^GPU\[\d+\]\s*:", start, re.MULTILINE):
        return 0.93
    return 0.8 if "No JSON data to report" in start else 0.0


def read(text: str) -> Reading:
    """Uncorrected errors and pending pages per card."""
    book = Notebook(KIND)
    data = mapping(load_json(text))
    for card, readings in data.items():
        found = _CARD.match(card)
        if not found:
            continue
        flaws = 0
        for name, value in mapping(readings).items():
            flaws += _note(book, f"gpu:{found[1]}", f"{name}: {value}", 0)
        if not flaws and mapping(readings):
            book.ok()
    if not data:
        _read_text(book, text)
    if "No JSON data to report" in text:
        book.puzzled("rocm-smi had no JSON to report")
    elif not book.sightings and not book.healthy:
        book.puzzled("no card is shown: " + text[:100])
    return book.reading()


def _read_text(book: Notebook, text: str) -> None:
    cards: dict[str, int] = {}
    for count, line in lines(text):
        if found := _TEXT_CARD.match(line):
            device = f"gpu:{found[1]}"
            cards[device] = cards.get(device, 0) + _note(book, device, found["rest"], count)
        elif row := re.match(r"^(\d{1,3})\s+\[0x[0-9a-f]{4}", line):
            cards.setdefault(f"gpu:{row[1]}", 0)
    book.ok(sum(1 for flaws in cards.values() if not flaws))


def _note(book: Notebook, device: str, evidence: str, line: int) -> int:
    name, _, value = evidence.rpartition(":")
    if _UNCORRECTED.search(name) and (integer(value) or 0) > 0:
        book.add("gpu.amd.ecc.uncorrectable", device, line=line, evidence=evidence, errors=integer(value))
        return 1
    if re.search(r"(?:pending|unreservable) ?pages?", name, re.IGNORECASE) and (integer(value) or 0) > 0:
        book.add("gpu.amd.bad_page.pending", device, line=line, evidence=evidence, pages=integer(value))
        return 1
    if _FAILED.search(evidence):
        book.puzzled(evidence)
    return 0
