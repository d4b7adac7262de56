"""``nvidia-smi topo -m`` -> how each pair of GPUs is connected.

Judged against itself: if nearly all pairs go over NVLink, a pair that does not has lost it.
"""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, lines

KIND = "nvidia-topo"
_ANSI = re.compile(r"\x1b\[[0-9;]{0,10}m")
_HEADER = re.compile(r"^\s*(?:\x1b\[[0-9;]{0,10}m)?\s*GPU0(?:\s|\x1b)")
_ROW = re.compile(r"^GPU(\d{1,3})\s+(\S.*)$")
_LINK = re.compile(r"^(?:X|SYS|NODE|PHB|PXB|PIX|NV\d{1,3})$")
_MOSTLY = 0.75


def recognise(text: str) -> float:
    """How sure it is this matrix."""
    start = head(text)
    if any(_HEADER.match(line) for line in start.split("\n")[:50]) and re.search(
        r"^GPU0\s+X\b", start, re.MULTILINE
    ):
        return 0.95
    return (
        0.6 if re.search(r"^GPU\d+(?:\s+(?:X|NV\d+|SYS|NODE|PIX|PHB|PXB)){2,}", start, re.MULTILINE) else 0.0
    )


def parse_topo(text: str) -> dict[tuple[int, int], str]:
    """(lower GPU, higher GPU) -> ``NV18``, ``PIX``, ``SYS`` ..."""
    pairs: dict[tuple[int, int], str] = {}
    columns = 0
    for _, line in lines(text):
        plain = _ANSI.sub("", line)
        if re.match(r"^\s+GPU0\s", plain + " "):
            columns = len(re.findall(r"\bGPU\d+\b", plain))
        elif found := _ROW.match(plain):
            row = int(found[1])
            for column, word in enumerate(found[2].split()[: columns or 64]):
                if not _LINK.match(word):
                    break
                if column != row and len(pairs) < 10_000:
                    pairs.setdefault((min(row, column), max(row, column)), word)
    return pairs


def read(text: str) -> Reading:
    """Pairs without NVLink, or with fewer links, on a machine where nearly all have it."""
    book = Notebook(KIND)
    pairs = parse_topo(text)
    linked = [word for word in pairs.values() if word.startswith("NV")]
    usual = max(set(linked), key=linked.count) if linked else ""
    judged = bool(pairs) and linked.count(usual) >= _MOSTLY * len(pairs)
    for (one, other), word in pairs.items():
        if judged and word != usual:
            code = "gpu.nvlink.degraded" if word.startswith("NV") else "gpu.nvlink.down"
            evidence = f"GPU{one}-GPU{other}: {word}, the others {usual}"
            book.add(code, f"gpu:{one}-gpu:{other}", evidence=evidence, connection=word, usual=usual)
        else:
            book.ok()
    if not pairs:
        book.puzzled("no pair of GPUs is shown: " + text[:100])
    return book.reading()
