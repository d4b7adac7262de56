"""Pasted text as it was before mails, terminals and web pages broke it: colours, entities, broken lines."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from greenroom.parsers.framing import Head, begins_message, peel

MAX_PIECES = 8
MIN_WIDTH = 50
MAX_WIDTH = 260
_COLOUR = re.compile(r"\x1b(?:\[[0-?]{0,20}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\))|\^\[\[[\d;]{0,12}m")
_PLAIN = str.maketrans(
    {
        "\u00a0": " ", "\u2007": " ", "\u202f": " ", "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"',
        "\u2013": "-", "\u2014": "-", "\u200b": None, "\ufeff": None, "\x00": None, "\r": None, "\t": "    ",
    }
)  # fmt: skip
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
    return line.translate(_PLAIN)


def unquote(lines: list[str]) -> list[str]:
    """Without the marks of a quoted mail, if it is one."""
    written = [line for line in lines if line.strip()]
    quoted = [line for line in written if line.lstrip().startswith(">")]
    if not quoted or len(quoted) * 2 < len(written):
        return lines
    return [_QUOTE.sub("", line) for line in lines]


def join(lines: list[str]) -> Iterator[tuple[int, str, Head, tuple[Head, ...]]]:
    """(number, raw, head, other ways to read it) of each line, broken ones put together.

    Only a line without a head of its own, behind one that is about as long as the longest, is a piece.
    """
    heads = [peel(line) for line in lines]
    width = _width(lines, heads)
    index = 0
    while index < len(lines):
        line, head = lines[index], heads[index]
        pieces = [line]
        while (
            width
            and len(pieces) < MAX_PIECES
            and index + len(pieces) < len(lines)
            and _continues(pieces[-1], lines[index + len(pieces)], heads[index + len(pieces)], width)
        ):
            pieces.append(lines[index + len(pieces)])
        if len(pieces) == 1:
            yield index + 1, line, head, ()
        else:
            ways = _ways(pieces, width)
            # the pieces by themselves come last: none of the ways may tell anything
            yield index + 1, ways[0], peel(ways[0]), tuple(peel(way) for way in ways[1:])
            for offset in range(1, len(pieces)):
                yield index + 1 + offset, "", Head(text=""), (heads[index + offset],)
        index += len(pieces)


def _width(lines: list[str], heads: list[Head]) -> int:
    """The width at which the text was broken; 0: it was not."""
    broken = [
        len(lines[index - 1].rstrip())
        for index in range(1, len(lines))
        if not _begins(lines[index], heads[index]) and lines[index].strip() and lines[index - 1].strip()
    ]
    width = max(broken, default=0)
    if not MIN_WIDTH <= width <= MAX_WIDTH:
        return 0
    longest = max(len(line.rstrip()) for line in lines)
    return width if longest <= width + 1 else 0


def _begins(line: str, head: Head) -> bool:
    return head.headed or begins_message(head.text.lstrip()) or line.lstrip().startswith(("```", "#", "{", "|"))


def _continues(before: str, line: str, head: Head, width: int) -> bool:
    if not line.strip() or _begins(line, head):
        return False
    first = line.split(None, 1)[0]
    return len(before.rstrip()) + 1 + len(first) > width


def _ways(pieces: list[str], width: int) -> list[str]:
    """Broken at blanks, broken anywhere, or anywhere with the blanks at the ends cut off."""
    indent = len(pieces[1]) - len(pieces[1].lstrip())
    bare = [pieces[0], *(piece[min(indent, len(piece) - len(piece.lstrip())) :] for piece in pieces[1:])]
    tight = "".join(bare)
    loose = " ".join(piece.strip() for piece in bare)
    mixed = "".join(
        piece + (" " if len(piece.rstrip()) < width and number < len(bare) - 1 else "")
        for number, piece in enumerate(bare)
    )
    return list(dict.fromkeys((mixed, tight, loose)))
