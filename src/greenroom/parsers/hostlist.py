"""Slurm host lists: ``gpu[01-03,12],cpu3`` to names and back.

Zero padding is kept, several brackets in one name are multiplied out, and the size is bounded: a
slip like ``gpu[1-99999999]`` is an error and not a machine without memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MAX_HOSTS = 100_000
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_PART = re.compile(r"[A-Za-z0-9_.-]+|\[[^\[\]]*\]")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_NUMBERED = re.compile(r"(.*?)(\d+)")


class HostlistError(ValueError):
    """Not a host list; the text says where and what was expected."""


def is_name(text: str) -> bool:
    """Whether the text is one plain node name: safe to put into a command of the scheduler."""
    return _NAME.fullmatch(text) is not None and not text.startswith("-")


def expand(text: str, *, max_hosts: int = MAX_HOSTS) -> list[str]:
    """The names, in the order written, each once.

    Raises:
        HostlistError: it is not a host list, or names more than ``max_hosts``.
    """
    names: dict[str, None] = {}
    for word in _words(text):
        for name in _multiply(word, max_hosts):
            names[name] = None
        if len(names) > max_hosts:
            raise HostlistError(f"{text[:80]!r}: more than {max_hosts} hosts")
    return list(names)


def compress(names: Iterable[str]) -> str:
    """The shortest list of the same set: the last number of each name becomes ranges.

    Raises:
        HostlistError: a name has other characters than letters, digits, ``_ . -``.
    """
    groups: dict[tuple[str, int], set[int]] = {}
    plain: set[str] = set()
    for name in names:
        if not is_name(name):
            raise HostlistError(f"{name!r}: expected a node name of letters, digits, '_', '.', '-'")
        numbered = _NUMBERED.fullmatch(name)
        if numbered is None or len(numbered[2]) > 15:
            plain.add(name)
        else:
            # A width is part of the group where zeros are written: gpu01 and gpu1 are two nodes.
            width = len(numbered[2]) if numbered[2].startswith("0") else 0
            groups.setdefault((numbered[1], width), set()).add(int(numbered[2]))
    for prefix, width in sorted(groups, key=lambda group: -group[1]):
        _join_unpadded(groups, prefix, width)
    words = [_folded(prefix, width, numbers) for (prefix, width), numbers in groups.items() if numbers]
    return ",".join(sorted([*words, *plain]))


def _join_unpadded(groups: dict[tuple[str, int], set[int]], prefix: str, width: int) -> None:
    """Numbers that fill the width anyway (``10`` beside ``09``) belong with the padded ones."""
    loose = groups.get((prefix, 0))
    if width and loose:
        fitting = {number for number in loose if len(str(number)) == width}
        groups[prefix, width] |= fitting
        loose -= fitting


def _folded(prefix: str, width: int, numbers: set[int]) -> str:
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    texts = [f"{a:0{width}d}" if a == b else f"{a:0{width}d}-{b:0{width}d}" for a, b in spans]
    if len(numbers) == 1:
        return prefix + texts[0]
    return f"{prefix}[{','.join(texts)}]"


def _words(text: str) -> Iterator[str]:
    """Split at the commas outside brackets."""
    depth, start = 0, 0
    for index, char in enumerate(text):
        if char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
        if depth not in (0, 1):
            raise HostlistError(f"{text[:80]!r}: bracket at position {index} does not match")
        if char == "," and depth == 0:
            yield _word(text, start, index)
            start = index + 1
    if depth:
        raise HostlistError(f"{text[:80]!r}: a bracket is not closed")
    yield _word(text, start, len(text))


def _word(text: str, start: int, end: int) -> str:
    word = text[start:end].strip()
    if not word or word.startswith("-"):
        raise HostlistError(f"{text[:80]!r}: expected a node name at position {start}")
    return word


def _multiply(word: str, max_hosts: int) -> list[str]:
    parts = _PART.findall(word)
    if "".join(parts) != word:
        raise HostlistError(f"{word[:80]!r}: expected letters, digits, '_', '.', '-' and [ranges]")
    names = [""]
    for part in parts:
        tails = _numbers(part, word, max_hosts) if part.startswith("[") else [part]
        if len(names) * len(tails) > max_hosts:
            raise HostlistError(f"{word[:80]!r}: more than {max_hosts} hosts")
        names = [name + tail for name in names for tail in tails]
    return names


def _numbers(bracket: str, word: str, max_hosts: int) -> list[str]:
    numbers: list[str] = []
    for item in bracket[1:-1].split(","):
        span = _RANGE.fullmatch(item.strip())
        if span is None or max(len(item), 1) > 31:
            raise HostlistError(
                f"{word[:80]!r}: expected numbers or ranges like [01-08,12], got {item[:40]!r}"
            )
        low, high = int(span[1]), int(span[2] or span[1])
        if high < low:
            raise HostlistError(f"{word[:80]!r}: the range {item.strip()} runs backwards")
        if high - low >= max_hosts:
            raise HostlistError(f"{word[:80]!r}: more than {max_hosts} hosts")
        numbers += [f"{number:0{len(span[1])}d}" for number in range(low, high + 1)]
    return numbers
