"""NVLink states and error counters: ``nvidia-smi nvlink -s``, ``-e``, and ``dcgmi nvlink -s``.

A link that is down shows ``<inactive>``; if all are, the link lines are missing altogether and one
sentence stands in their place, so counting inactive lines finds none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, integer, lines, slug

KIND = "nvlink"
_GPU = re.compile(r"^\s*GPU (\d{1,3}): (.+?)(?: \(UUID: ([^)]*)\))?\s*$")
_LINK = re.compile(r"^\s*Link (\d{1,2}): (<inactive>|inactive|[\d.]+ GB/s)\s*$", re.IGNORECASE)
_COUNTER = re.compile(
    r"^\s*Link (\d{1,2}): ([A-Za-z][\w /()-]*?(?:errors?|events?|discards?)[\w /()-]*): (\d+)\s*$",
    re.IGNORECASE,
)
_ALL_DOWN = re.compile(r"all links are inActive", re.IGNORECASE)
_DCGM_PART = re.compile(r"^\s*(gpuId|physicalId) (\d{1,4}):\s*$")
_DCGM_LINKS = re.compile(r"^\s*[UDX_](?: +[UDX_])*\s*$")
# GPUs of this form come with 12 of 18 links in use (H100 NVL data sheet: three bridges of four links).
_BY_DESIGN = (("H100 NVL", 18, 12),)
_CARD = re.compile(r"PCIe|\bNVL\b|\bL4\b|\bL40|GeForce|RTX", re.IGNORECASE)


@dataclass(slots=True)
class Links:
    """The links of one GPU or switch."""

    device: str
    name: str = ""
    up: list[int] = field(default_factory=list)
    down: list[int] = field(default_factory=list)
    none_active: bool = False
    errors: dict[str, int] = field(default_factory=dict)
    counters: int = 0
    line: int = 0
    evidence: str = ""


def recognise(text: str) -> float:
    """How sure it is one of these outputs."""
    start = head(text)
    if re.search(r"Key: *Up=U, *Down=D", start) or "NvLink Link Status" in start:
        return 0.95
    if _ALL_DOWN.search(start):
        return 0.95
    found = sum(1 for line in start.split("\n")[:200] if _LINK.match(line) or _COUNTER.match(line))
    if found:
        return 0.93
    dcgm = re.search(r"^[ \t]*gpuId \d+:[ \t]*\n[ \t]*[UDX_](?: +[UDX_])+[ \t]*$", start, re.MULTILINE)
    return 0.85 if dcgm else 0.0


def parse_nvlink(text: str) -> list[Links]:
    """The links per GPU (and switch) in the order printed."""
    parts: list[Links] = []
    for count, line in lines(text):
        if found := _GPU.match(line):
            parts.append(Links(device=f"gpu:{found[1]}", name=found[2].strip(), line=count, evidence=line))
        elif found := _DCGM_PART.match(line):
            prefix = "gpu" if found[1] == "gpuId" else "nvswitch"
            parts.append(Links(device=f"{prefix}:{found[2]}", line=count, evidence=line))
        elif _ALL_DOWN.search(line):
            if not parts or parts[-1].up or parts[-1].down:
                parts.append(Links(device=""))
            parts[-1].none_active = True
            parts[-1].line, parts[-1].evidence = count, line
        elif parts and (found := _LINK.match(line)):
            up = "inactive" not in found[2].lower()
            (parts[-1].up if up else parts[-1].down).append(int(found[1]))
            if not up and len(parts[-1].down) == 1:
                parts[-1].line, parts[-1].evidence = count, line
        elif parts and (found := _COUNTER.match(line)):
            parts[-1].counters += 1
            name, value = slug(found[2]), integer(found[3]) or 0
            if value:
                parts[-1].errors[name] = parts[-1].errors.get(name, 0) + value
                parts[-1].line, parts[-1].evidence = count, line
        elif parts and _DCGM_LINKS.match(line):
            for index, letter in enumerate(line.split()):
                if letter == "U":
                    parts[-1].up.append(index)
                elif letter == "D":
                    parts[-1].down.append(index)
            parts[-1].line, parts[-1].evidence = count, line
    return parts


def read(text: str) -> Reading:
    """Links that are down and counters that are not zero."""
    book = Notebook(KIND)
    for part in parse_nvlink(text):
        _note(book, part)
    if not book.healthy and not book.sightings:
        book.puzzled("no link of any GPU is shown: " + text[:100])
    return book.reading()


def _note(book: Notebook, part: Links) -> None:
    everything = part.none_active or (bool(part.down) and not part.up)
    if everything and _CARD.search(part.name):
        book.add(
            "gpu.nvlink.unbridged",
            part.device,
            line=part.line,
            evidence=part.evidence,
            model=part.name,
            all=True,
        )
    elif everything or (part.down and not _designed(part)):
        book.add(
            "nvswitch.nvlink.down" if part.device.startswith("nvswitch") else "gpu.nvlink.down",
            part.device,
            line=part.line,
            evidence=part.evidence,
            links_down=part.down,
            links_up=len(part.up),
            all=everything or None,
            model=part.name,
        )
    elif part.up or (part.counters and not part.errors):
        book.ok()
    if part.errors:
        book.add(
            "gpu.nvlink.errors",
            part.device,
            line=part.line,
            evidence=part.evidence,
            errors=sum(part.errors.values()),
            counters=dict(part.errors),
        )


def _designed(part: Links) -> bool:
    total = len(part.up) + len(part.down)
    return any(
        name in part.name and total == all_ and len(part.up) == used for name, all_, used in _BY_DESIGN
    )
