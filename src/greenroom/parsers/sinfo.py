"""``sinfo`` -> node states: the reason list (``-R``), the partition table, the node table (``-N``).

A mark behind the state is a flag (``idle~``: powered down, not idle). A reason holds blanks and is
cut at its column, so a line of the reason list is split from the right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from greenroom.model.sightings import Reading
from greenroom.parsers.hostlist import HostlistError, expand
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.slurm_reasons import find_reason
from greenroom.parsers.texts import head, lines

KIND = "sinfo"
MARKS = {
    "*": "not_responding",
    "~": "powered_down",
    "#": "powering_up",
    "!": "power_down",
    "%": "powering_down",
    "$": "maintenance",
    "@": "reboot_requested",
    "^": "reboot_issued",
    "-": "planned",
}
_BASES = (
    "allocated|alloc|completing|comp|down|drained|draining|drain|drng|fail|failing|failg|future|futr|idle|inval|"
    "maint|mixed|mix|perfctrs|npc|planned|plnd|power_down|powering_down|reserved|resv|unknown|unk|reboot|blocked|error"
)
_STATE = re.compile(rf"^(?P<base>{_BASES})(?P<marks>[*~#!%$@^-]*)$", re.IGNORECASE)
_WHEN = r"(?P<when>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|Unknown|unknown)"
_SIGNED = re.compile(
    rf"^(?P<reason>.{{1,300}}?)\s+(?P<by>[a-z_][\w.@-]{{0,63}}(?:\(\d+\))?)\s+{_WHEN}\s+(?P<nodes>\S+)\s*$"
)
_AVAILABLE = re.compile(r"^[\w.-]{1,64}\*?\s+(?:up|down|drain|inact)\s+(?:infinite|[\d:-]+)\s")
_BARE = re.compile(r"^(?P<reason>\S.{0,300}?\S)\s{2,}(?P<nodes>[\w.-]+(?:\[[^\]]*\])?[\w.,\[\]-]*)\s*$")
_BAD = {
    "down": "slurm.node.down",
    "fail": "slurm.node.fail",
    "failing": "slurm.node.fail",
    "failg": "slurm.node.fail",
}
_BAD |= dict.fromkeys(("drained", "draining", "drain", "drng"), "slurm.node.drained")
_BAD |= {
    "inval": "slurm.node.config",
    "unknown": "slurm.node.not_responding",
    "unk": "slurm.node.not_responding",
}
_BAD |= {"error": "slurm.node.down", "blocked": "slurm.node.blocked"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLine:
    """What one line says of some nodes."""

    nodes: str
    """As a host list."""
    state: str = ""
    flags: tuple[str, ...] = ()
    reason: str = ""
    by: str = ""
    when: str = ""
    line: int = 0
    text: str = ""


def recognise(text: str) -> float:
    """How sure it is sinfo."""
    start = head(text)
    if re.search(r"^[ \t]*REASON\s+(?:USER|NODELIST)", start, re.MULTILINE):
        return 0.95
    if re.search(r"^[ \t]*(?:PARTITION|NODELIST)\b.*\bSTATE\b", start, re.MULTILINE):
        return 0.95
    rows = [line for _, line in list(lines(start))[:30]]
    if any(_SIGNED.match(line) for line in rows):
        return 0.7
    return 0.8 if any(_AVAILABLE.match(line) and _from_line(line, 0, listed=False) for line in rows) else 0.0


def parse_sinfo(text: str) -> list[NodeLine]:
    """One entry a line that names nodes."""
    listed = re.search(r"^[ \t]*REASON\s", text[:5000], re.MULTILINE) is not None
    return [entry for count, line in lines(text) if (entry := _from_line(line, count, listed=listed))]


def _from_line(line: str, count: int, *, listed: bool) -> NodeLine | None:
    if re.match(r"^\s*(?:REASON|PARTITION|NODELIST)\b", line):
        return None
    if found := _SIGNED.match(line):
        return NodeLine(
            nodes=found["nodes"],
            reason=found["reason"].strip(),
            by=found["by"],
            when=found["when"],
            line=count,
            text=line.strip(),
        )
    words = line.split()
    states = [index for index, word in enumerate(words[:14]) if _STATE.match(word)]
    if len(words) >= 3 and states and not listed:
        # the state is the last such word: a partition may be called "drain"
        state = _STATE.match(words[states[-1]])
        first = states[-1] + 1 < len(words) and _is_nodes(words[-1]) and states[-1] == len(words) - 2
        nodes = words[-1] if first else words[0]
        if state and (first or _is_nodes(words[0])) and (first or len(words) >= 4):
            flags = tuple(MARKS[mark] for mark in state["marks"])
            base = state["base"].lower()
            return NodeLine(nodes=nodes, state=base, flags=flags, line=count, text=line.strip())
    found = _BARE.match(line) if listed else None
    return (
        NodeLine(nodes=found["nodes"], reason=found["reason"], line=count, text=line.strip())
        if found
        else None
    )


def _is_nodes(word: str) -> bool:
    return re.fullmatch(r"[A-Za-z][\w.-]*(?:\[[\d,-]+\])?(?:,[\w.\[\],-]+)?", word) is not None


def read(text: str) -> Reading:
    """Nodes that are out of work, each by name, with the reason if it is shown."""
    book = Notebook(KIND)
    entries = parse_sinfo(text)
    for entry in entries:
        _note(book, entry)
    if not entries:
        book.puzzled("no node is shown: " + text[:100])
    return book.reading()


def _note(book: Notebook, entry: NodeLine) -> None:
    code = find_reason(entry.reason) if entry.reason else _BAD.get(entry.state, "")
    if "not_responding" in entry.flags and code in {"", "slurm.node.down"}:
        code = "slurm.node.not_responding"
    try:
        names = expand(entry.nodes, max_hosts=5000)
    except HostlistError:
        names = [entry.nodes]
        book.puzzled(f"not a host list: {entry.nodes}")
    if not code:
        if entry.flags and entry.state in {"idle", "mix", "mixed", "alloc", "allocated"}:
            book.puzzled(
                f"{entry.nodes}: {entry.state}, {', '.join(entry.flags)}: cannot be judged in this state"
            )
        else:
            book.ok(len(names))
        return
    for name in names:
        book.add(
            code,
            name,
            line=entry.line,
            evidence=entry.text,
            when=entry.when,
            reason=entry.reason,
            by=entry.by,
            state=entry.state,
            flags=list(entry.flags) or None,
        )
