"""Kernel log text in any frame -> sightings: Xid and SXid of the NVIDIA driver and what kernel_faults knows.

A paste is looked at line by line and put together first where lines were broken. A large file is read in
blocks: only lines with a telling word are looked at, so that 100 MB take seconds and little memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from greenroom.model.sightings import Reading
from greenroom.parsers import entries, kernel_faults, wraps
from greenroom.parsers.entries import Assembler, Entry
from greenroom.parsers.framing import Head, begins_message, peel
from greenroom.parsers.kernel_lines import Reports
from greenroom.parsers.notebook import Notebook

KIND = "kernel-log"
MAX_SIGHTINGS = 10_000
MAX_LINE_CHARS = entries.MAX_LINE_CHARS
PASTE_CHARS, PASTE_LINES = 400_000, 6_000
"""Longer texts are files: nobody breaks their lines."""
BLOCK_CHARS = 1_000_000
_BYTES_OF_JSON = re.compile(r'"message"\s?:\s?\[')
_KERNEL = re.compile(r"^(?:\S.{0,80}kernel:|<\d+>\[|\[ *\d+\.\d{6}\]|\d+,\d+,\d+,[^;]*;)", re.MULTILINE)
_KERNEL_JSON = re.compile(
    r'"(?:_TRANSPORT|SYSLOG_IDENTIFIER)"\s?:\s?"kernel"|"dmesg"\s?:|^_TRANSPORT=kernel', re.MULTILINE
)
_DRIVER = re.compile(r"\bXid ?\(|nvidia-nvswitch\d*: SXid")
# ansible's "node1 | CHANGED | rc=0 >>", and dshbak's and clush's host between two rules
_HOST_LINE = re.compile(r"^(?P<host>[A-Za-z][\w.-]{0,63}) \| (?:CHANGED|SUCCESS|FAILED!?) ?\|")
_RULE = re.compile(r"^-{10,}$")
_HOST_ONLY = re.compile(r"^[A-Za-z][\w.,\[\]-]{0,200}(?: \(\d+\))?$")


def recognise(text: str) -> float:
    """A log of the kernel, or a paste of lines out of one."""
    if _DRIVER.search(text):
        return 0.9
    lines = text.split("\n")[:500]
    low = text.lower()
    if kernel_faults.hinted(low) or _BYTES_OF_JSON.search(low):
        reader = _Reader()
        reader.take_all(lines)
        if reader.reports.sightings:
            return 0.85
    return 0.6 if _KERNEL.search(text) or _KERNEL_JSON.search(text) else 0.0


def read(text: str) -> Reading:
    """Every report."""
    reader = _Reader()
    if len(text) <= PASTE_CHARS and text.count("\n") <= PASTE_LINES:
        reader.take_all(text.split("\n"))
    else:
        for start in range(0, len(text), BLOCK_CHARS):
            reader.take_block(text[start : start + BLOCK_CHARS])
        reader.take_block("", last=True)
    return reader.reading()


def read_blocks(blocks: Iterable[str]) -> Reading:
    """The same of a file that is read in blocks, which may end anywhere."""
    reader = _Reader()
    for block in blocks:
        reader.take_block(block)
        if reader.full:
            break
    reader.take_block("", last=True)
    return reader.reading()


class _Reader:
    def __init__(self) -> None:
        self.reports = Reports()
        self._book = Notebook(KIND)
        self._assembler: Assembler | None = None
        self._undecided = True
        self._logged = False
        self._left = ""
        self._line = 0
        self._healthy = 0
        self._host = ""
        self._rules: list[str] = []

    @property
    def full(self) -> bool:
        """Whether it takes no more."""
        return len(self.reports.sightings) >= MAX_SIGHTINGS

    def take_all(self, lines: list[str]) -> None:
        """A paste: broken lines are put together."""
        cleaned = [wraps.clean(line[:MAX_LINE_CHARS] if line[:1] not in "[{" else line) for line in lines]
        cleaned = wraps.unquote(cleaned)
        self._line = len(lines)
        if entries.is_structured("\n".join(cleaned)[:BLOCK_CHARS]):
            found: Iterable[Entry] = _assembled(cleaned)
        elif any(line.lstrip()[:1] in ("{", "[") and entries.json_entries(0, line) for line in cleaned[:200]):
            found = (one for number, line in enumerate(cleaned, 1) for one in _entries(number, line))
        else:
            found = wraps.join(cleaned)
        for entry in found:
            self._healthy += self._take(entry) and _is_log(entry.head)
            if self.full:
                break

    def take_block(self, block: str, *, last: bool = False) -> None:
        """A block of a file: only lines with a telling word are looked at."""
        text = self._left + block
        cut = len(text) if last else text.rfind("\n") + 1
        if not cut and len(text) > BLOCK_CHARS:
            cut = len(text)  # one endless line
        text, self._left = wraps.clean_block(text[:cut]), text[cut:]
        if (not text and not last) or self.full:
            return
        if self._undecided:
            self._undecided = False
            self._assembler = Assembler() if entries.is_structured(text[:65_536]) else None
            some = text[:65_536].split("\n")[:200]
            self._logged = 2 * sum(line[:1] == "{" or _is_log(peel(line)) for line in some) >= len(some)
        if self._assembler is not None:
            for number, line in enumerate(
                text.removesuffix("\n").split("\n") if text else (), self._line + 1
            ):
                for entry in self._assembler.take(number, line[:MAX_LINE_CHARS]):
                    self._healthy += self._take(entry)
            if last:
                for entry in self._assembler.close():
                    self._healthy += self._take(entry)
        else:
            ordinary = text.count("\n")
            for number, line in _hits(text, self._line + 1):
                ordinary -= 1
                cleaned = wraps.clean(line if line[:1] in ("{", "[") else line[:MAX_LINE_CHARS])
                for entry in _entries(number, cleaned):
                    ordinary += self._take(entry)
                if self.full:
                    break
            self._healthy += max(0, ordinary) if self._logged else 0
        self._line += text.count("\n")

    def _take(self, entry: Entry) -> bool:
        """Look at a message; whether it is an ordinary one."""
        self._note_host(entry.raw)
        if not entry.head.host and self._host:
            entry.head.host = self._host
            entry.others = tuple(replace(one, host=one.host or self._host) for one in entry.others)
        before = len(self.reports.sightings)
        ordinary = self.reports.take(entry)
        if entry.pieces and len(self.reports.sightings) == before:
            for piece in entry.pieces:
                ordinary = self._take(piece) and ordinary
        return ordinary

    def _note_host(self, line: str) -> None:
        if " | " in line and (found := _HOST_LINE.match(line)):
            self._host = found["host"]
        elif line[:10] == "----------" and _RULE.match(line):
            self._rules.append(line)
            if len(self._rules) == 3 and _HOST_ONLY.match(self._rules[1]):
                self._host = self._rules[1].split(" ")[0]
            self._rules = self._rules[-1:] if len(self._rules) != 2 else self._rules
        elif self._rules:
            self._rules = [*self._rules, line] if len(self._rules) == 1 and _HOST_ONLY.match(line) else []

    def reading(self) -> Reading:
        """All of it."""
        for puzzle in self.reports.puzzles:
            self._book.puzzled(puzzle)
        puzzles = list(self._book.reading().not_understood)
        if self.full:
            puzzles = [*puzzles[:19], f"more than {MAX_SIGHTINGS} reports: the rest is left out"]
        return Reading(
            kind=KIND,
            sightings=tuple(self.reports.without_echoes())[:MAX_SIGHTINGS],
            healthy=self._healthy,
            not_understood=tuple(puzzles),
        )


def _is_log(head: Head) -> bool:
    """Whether it is a line of a log; one of prose is nothing that was looked at."""
    return head.headed or begins_message(head.text)


def _assembled(lines: list[str]) -> Iterator[Entry]:
    assembler = Assembler()
    for number, line in enumerate(lines, 1):
        yield from assembler.take(number, line)
    yield from assembler.close()


def _entries(number: int, line: str) -> list[Entry]:
    if line.lstrip()[:1] in ("{", "[") and (found := entries.json_entries(number, line)):
        return found
    head = peel(line)
    if head.text[:1] == "{" and (found := entries.json_entries(number, head.text)):
        return [replace(one, head=_over(head, one.head)) for one in found]
    return [Entry(number=number, raw=line, head=head)]


def _over(outer: Head, inner: Head) -> Head:
    """JSON behind a head: what the inner one does not say, the outer one does."""
    return replace(
        inner,
        host=inner.host or outer.host,
        at=outer.at if inner.at is None else inner.at,
        when=inner.when or outer.when,
        uptime_s=outer.uptime_s if inner.uptime_s is None else inner.uptime_s,
    )


def _hits(text: str, first: int) -> Iterator[tuple[int, str]]:
    """(number, line) of the lines with a telling word. One pass a word over all: quicker than by line."""
    low = text.lower()
    if len(low) != len(text):  # a few letters change their length
        low = text.encode("ascii", "replace").decode("ascii").lower()
    starts: set[int] = set()
    for hint in (*kernel_faults.HINTS, " | ", "----------\n"):
        at = low.find(hint)
        while at >= 0:
            starts.add(text.rfind("\n", 0, at + 1) + 1)
            end = text.find("\n", at)
            at = low.find(hint, end) if end >= 0 else -1
    for found in _BYTES_OF_JSON.finditer(low) if '"message"' in low else ():
        starts.add(text.rfind("\n", 0, found.start()) + 1)
    number, counted = first, 0
    for start in sorted(starts):
        number += text.count("\n", counted, start)
        counted = start
        end = text.find("\n", start)
        yield number, text[start : end if end >= 0 else len(text)].rstrip("\r")
