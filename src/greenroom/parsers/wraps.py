"""Pasted text as it was before mails, terminals and web pages broke it: colours, entities, broken lines."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator

from greenroom.parsers.entries import Entry
from greenroom.parsers.framing import Head, begins_message, has_clock, peel

MAX_PIECES = 8
MIN_WIDTH = 50
MAX_WIDTH = 260
_COLOUR = re.compile(
    r"\x1b(?:\[[0-?]{0,20}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\))|\^\[\[[\d;]{0,12}m"
)
_PLAIN = str.maketrans(
    {
        "\u00a0": " ", "\u2007": " ", "\u202f": " ",
        "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"',
        "\u2013": "-", "\u2014": "-", "\u200b": None, "\ufeff": None, "\r": None, "\t": "    ",
    }
)  # fmt: skip
# /dev/kmsg's dictionary lines: SUBSYSTEM=, DEVICE=
_DICTIONARY = re.compile(r" [A-Z_]{2,30}=\S{0,80}$")
# Fences, tables, rules, JSON, and ansible's line before the output of a host
_APART = re.compile(r"\s{0,40}(?:```|\{|\||-{10}|[\w.-]{1,64} \| [A-Z])")
_QUOTE = re.compile(r"^\s{0,4}(?:> ?){1,8}")
_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|nbsp|#\d{1,5}|#x[0-9a-fA-F]{1,4});")


def clean(line: str) -> str:
    """The line without colours, HTML entities, typographic quotes and odd blanks."""
    if "\x1b" in line or "^[[" in line:
        line = _COLOUR.sub("", line)
    if "&" in line and _ENTITY.search(line):
        line = html.unescape(html.unescape(line))
    if "\\x" in line:
        line = _ESCAPE.sub(lambda found: chr(int(found[1], 16)).replace("\n", " "), line)
    line = line.lstrip("\x00")
    return line if line.isascii() and "\t" not in line and "\r" not in line else line.translate(_PLAIN)


def clean_block(text: str) -> str:
    """What stands in the way of looking for words with blanks in them, in a whole block at once."""
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    return text.replace("\u00a0", " ") if "\u00a0" in text else text


def unquote(lines: list[str]) -> list[str]:
    """Without the marks of a quoted mail, if it is one."""
    written = [line for line in lines if line.strip()]
    quoted = [line for line in written if line.lstrip().startswith(">")]
    if not quoted or len(quoted) * 4 < len(written):
        return lines
    return [_QUOTE.sub("", line) for line in lines]


def join(lines: list[str]) -> Iterator[Entry]:
    """The entries of a paste, broken lines put together.

    Only a line without a head of its own, behind one that is about as long as the longest, is a piece.
    """
    lines = ["" if _DICTIONARY.match(line) else line for line in lines]
    heads = [peel(line) for line in lines]
    begins = _begins(lines, heads)
    width, full = _width(lines, begins)
    index = 0
    while index < len(lines):
        last = index + 1
        while (
            width
            and last < min(len(lines), index + MAX_PIECES)
            and not begins[last]
            and _continues(lines[last - 1], lines[last], width)
        ):
            last += 1
        whole = Entry(number=index + 1, raw=lines[index], head=heads[index])
        if last > index + 1:
            ways = [peel(way) for way in _ways(lines[index:last], full)]
            whole.raw = ways[0].text
            whole.pieces = tuple(
                Entry(number=number + 1, raw=lines[number], head=heads[number])
                for number in range(index, last)
            )
            whole.head, whole.others = ways[0], tuple(ways[1:])
        yield whole
        index = last


def _begins(lines: list[str], heads: list[Head]) -> list[bool]:
    """Which lines begin a record: those with a time or a host, or, if few have, those that name a driver."""
    named = [begins_message(head.text.lstrip()) for head in heads]
    clocked = sum(map(has_clock, heads))
    headed = sum(head.headed for head in heads)
    bare = sum(name and not head.headed for name, head in zip(named, heads, strict=True))
    by_clock, by_head = 2 * clocked > headed, headed > 2 * bare
    return [
        has_clock(head)
        or (head.headed and not by_clock)
        or (name and not by_head)
        or _APART.match(line) is not None
        for line, head, name in zip(lines, heads, named, strict=True)
    ]


def _width(lines: list[str], begins: list[bool]) -> tuple[int, frozenset[int]]:
    """The width at which the text was broken (0: it was not), and lengths of lines broken within words."""
    broken = [
        len(lines[index - 1])
        for index in range(1, len(lines))
        if not begins[index] and lines[index].strip() and lines[index - 1].strip()
    ]
    width, longest = max(broken, default=0), max(map(len, lines), default=0)
    if not MIN_WIDTH <= width <= MAX_WIDTH or longest > width + 16:
        return 0, frozenset()
    near = Counter(length for length in broken if length > width - 20)
    usual, times = near.most_common(1)[0]
    hard = times * 2 > near.total() and usual >= width - 4 and longest <= width + 2
    return max(width, longest), frozenset({usual, width} if hard else ())


def _continues(before: str, line: str, width: int) -> bool:
    if not line.strip():
        return False
    # two more: the mark of a quotation may have stood there
    return len(before.rstrip()) + 1 + len(line.split(None, 1)[0]) > width - 2


def _ways(pieces: list[str], full: frozenset[int]) -> list[str]:
    """Broken anywhere (with the blanks at the ends kept, or cut off), or broken at blanks."""
    loose = " ".join(piece.strip() for piece in pieces)
    tight = "".join(pieces)
    last = len(pieces) - 1
    mixed = "".join(
        piece + (" " if len(piece) not in full and number < last else "")
        for number, piece in enumerate(pieces)
    )
    return list(dict.fromkeys((mixed, tight, loose) if full else (loose, mixed, tight)))
