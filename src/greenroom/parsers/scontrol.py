"""``scontrol show node``, whole or quoted in part, one line or many -> nodes that are out of work."""

from __future__ import annotations

import re
from dataclasses import dataclass

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.slurm_reasons import find_counts, find_reason
from greenroom.parsers.texts import head, lines

KIND = "scontrol-node"
_NAME = re.compile(r"^\s*NodeName=(\S{1,128})")
_STATE = re.compile(r"(?:^|\s)State=([A-Z][A-Z0-9_+*~#!%$@^-]{1,200})(?=\s|$)")
_REASON = re.compile(r"(?:^|\s)Reason=(.{0,500}?)(?: \[([^\s@\]]{1,64})@([^\]]{1,40})\]|$)")
_SIGNED = re.compile(
    r"^[ \t]*Reason=[^\n]{1,500} \[[^\s@\]]{1,64}@\d{4}-\d\d-\d\dT[^\]]{1,30}\]", re.MULTILINE
)
_BAD = {
    "DOWN": "slurm.node.down",
    "DRAIN": "slurm.node.drained",
    "FAIL": "slurm.node.fail",
    "NOT_RESPONDING": "slurm.node.not_responding",
    "INVALID_REG": "slurm.node.config",
    "INVAL": "slurm.node.config",
    "ERROR": "slurm.node.down",
}


@dataclass(slots=True)
class Shown:
    """One node as shown."""

    name: str = ""
    flags: tuple[str, ...] = ()
    reason: str = ""
    by: str = ""
    when: str = ""
    line: int = 0
    text: str = ""


def recognise(text: str) -> float:
    """How sure it is scontrol show node."""
    start = head(text)
    if _NAME.search(start) or re.search(r"^[ \t]*NodeName=\S+ ", start, re.MULTILINE):
        return 0.95
    if re.search(r"^[ \t]*State=[A-Z+*]+ ThreadsPerCore=", start, re.MULTILINE):
        return 0.85
    return 0.65 if _SIGNED.search(start) else 0.0


def parse_shown(text: str) -> list[Shown]:
    """The nodes in the order printed."""
    nodes: list[Shown] = []
    for count, line in lines(text):
        if found := _NAME.match(line):
            nodes.append(Shown(name=found[1], line=count, text=line.strip()))
        if found := _STATE.search(line.partition(" Reason=")[0]):
            if not nodes:
                nodes.append(Shown(line=count))
            nodes[-1].flags = _flags(found[1])
            nodes[-1].line, nodes[-1].text = count, line.strip()
        if not nodes and _SIGNED.match(line):
            nodes.append(Shown(line=count))  # quoted without the lines above it
        if nodes and (found := _REASON.search(line)):
            nodes[-1].reason, nodes[-1].by, nodes[-1].when = found[1].strip(), found[2] or "", found[3] or ""
            if nodes[-1].reason:
                nodes[-1].text = line.strip()
    return nodes


def _flags(state: str) -> tuple[str, ...]:
    words = [word.rstrip("*~#!%$@^-") for word in state.split("+")]
    return (*words, "NOT_RESPONDING") if "*" in state else tuple(words)


def read(text: str) -> Reading:
    """Nodes that are out of work, and why."""
    book = Notebook(KIND)
    nodes = parse_shown(text)
    for node in nodes:
        bad = next((code for flag, code in _BAD.items() if flag in node.flags), "")
        if not bad and node.reason and not node.flags:
            bad = "slurm.node.drained"
        if not bad:
            book.ok(1 if node.flags else 0)
            continue
        have, want = find_counts(node.reason)
        book.add(
            find_reason(node.reason) if node.reason else bad,
            node.name,
            line=node.line,
            evidence=node.text,
            when=node.when,
            state="+".join(node.flags),
            reason=node.reason,
            by=node.by,
            have=have,
            want=want,
        )
    if not book.sightings and not any(node.flags for node in nodes):
        book.puzzled("no state of a node is shown: " + text[:100])
    return book.reading()
