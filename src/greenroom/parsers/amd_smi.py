"""``amd-smi metric|static|bad-pages|xgmi`` as text or JSON -> AMD GPUs' memory errors, links, bad pages.

Three classes of errors per block: corrected, uncorrected, deferred (seen, and not yet used by anybody).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, integer, leaves, lines, load_json, mapping, sequence

KIND = "amd-smi"
_GPU = re.compile(r"^\s*GPU: *(\d{1,4})\s*$")
_SECTION = re.compile(r"^(?P<indent>\s*)(?P<name>[A-Z][A-Z0-9_ ]{1,50}):\s*$")
_FIELD = re.compile(r"^(?P<indent>\s*)(?P<name>[A-Z][A-Z0-9_ ]{1,50}): *(?P<value>\S.*?)\s*$")
_COUNT = re.compile(r"(?P<class>uncorrectable|correctable|deferred)(?:_count|_errors)?$")
_PENDING = re.compile(r"status|page_status|reservation")
_ABSENT = re.compile(r"N/A", re.IGNORECASE)
_CODES = {"uncorrectable": "gpu.amd.ecc.uncorrectable", "deferred": "gpu.amd.ecc.deferred"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One reading of one GPU; the path in lower case."""

    gpu: str
    path: str
    value: str
    line: int = 0


def recognise(text: str) -> float:
    """How sure it is amd-smi."""
    start = head(text)
    if re.search(r"\bUNCORRECTABLE_COUNT: ", start) or re.search(
        r"^GPU: \d+\s*\n\s+[A-Z_]+:", start, re.MULTILINE
    ):
        return 0.95
    if re.search(r'"gpu": ?\d', start) and re.search(
        r'"(?:ecc|ecc_blocks|asic|bus|pcie|retired|usage|power|ras)"', start
    ):
        return 0.93
    return 0.8 if "AMD System Management Interface" in start or "AMDSMI_STATUS" in start else 0.0


def parse_values(text: str) -> Iterator[Value]:
    """All readings."""
    data = load_json(text) if re.match(r"\s*[\[{]", text) or '"gpu"' in text[:2000] else None
    if data is None:
        yield from _from_text(text)
        return
    wrapped = mapping(data).get("gpu_data", data)  # newer versions wrap the list
    for item in sequence(wrapped)[:1000] or [wrapped]:
        gpu = mapping(item).get("gpu")
        for path, value in leaves(item, most=20_000) if gpu is not None else ():
            yield Value(gpu=str(gpu)[:20], path="/".join(path).lower(), value=str(value)[:200])


def _from_text(text: str) -> Iterator[Value]:
    gpu = ""
    stack: list[tuple[int, str]] = []
    for count, line in lines(text):
        if found := _GPU.match(line):
            gpu, stack = found[1], []
        elif found := _SECTION.match(line):
            depth = len(found["indent"])
            while stack and stack[-1][0] >= depth:
                stack.pop()
            if len(stack) < 10:
                stack.append((depth, found["name"].lower()))
        elif found := _FIELD.match(line):
            depth = len(found["indent"])
            while stack and stack[-1][0] >= depth:
                stack.pop()
            path = "/".join([*(name for _, name in stack), found["name"].lower()])
            yield Value(gpu=gpu, path=path, value=found["value"], line=count)


def read(text: str) -> Reading:
    """Errors that were not corrected, pending or many bad pages, links that are down."""
    book = Notebook(KIND)
    bad: set[str] = set()
    seen: dict[str, int] = {}
    for value in parse_values(text):
        if value.gpu or _COUNT.search(value.path):
            seen[value.gpu] = seen.get(value.gpu, 0) + (0 if _ABSENT.fullmatch(value.value) else 1)
        code, count = _judge(value)
        if not code:
            continue
        bad.add(value.gpu)
        if value.path.startswith("ecc/total") or "/total_" in value.path:
            continue  # repeats the blocks; counted below where no block is shown
        device = f"gpu:{value.gpu}" if value.gpu else ""
        evidence = f"{value.path}: {value.value}"
        book.add(code, device, line=value.line, evidence=evidence, errors=count, block=_block(value.path))
    _totals(book, text)
    book.ok(sum(1 for gpu, readings in seen.items() if readings and gpu not in bad))
    for line in [line for _, line in lines(text) if "AMDSMI_STATUS_" in line][:20]:
        book.puzzled(line)
    if not seen:
        book.puzzled("no reading of a GPU: " + text[:100])
    return book.reading()


def _judge(value: Value) -> tuple[str, int | None]:
    last = value.path.rsplit("/", 1)[-1]
    if found := _COUNT.search(last):
        count = integer(value.value) or 0
        return (_CODES.get(found["class"], ""), count) if count > 0 else ("", None)
    if "xgmi" in value.path or "link" in value.path:
        down = value.value.strip().upper() in {"D", "DOWN", "X"} and "status" in value.path
        return ("gpu.amd.xgmi.down", None) if down else ("", None)
    if ("bad_page" in value.path or "retired" in value.path) and _PENDING.search(value.path):
        word = value.value.upper()
        return ("gpu.amd.bad_page.pending", None) if word in {"PENDING", "UNRESERVABLE"} else ("", None)
    return "", None


def _totals(book: Notebook, text: str) -> None:
    told = {(sighting.device, sighting.code) for sighting in book.sightings}
    for value in parse_values(text):
        code, count = _judge(value)
        device = f"gpu:{value.gpu}" if value.gpu else ""
        if (
            code
            and (value.path.startswith("ecc/total") or "/total_" in value.path)
            and (device, code) not in told
        ):
            book.add(code, device, line=value.line, evidence=f"{value.path}: {value.value}", errors=count)


def _block(path: str) -> str:
    parts = path.split("/")
    return parts[-2] if len(parts) > 1 else ""
