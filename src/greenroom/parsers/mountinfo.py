"""/proc/self/mountinfo (proc(5)) -> mounts, with the file system's own options told from the mount's."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SEPARATOR = " - "
_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One line."""

    path: str
    kind: str
    """File system type."""
    device: str
    mount_options: frozenset[str]
    """Of this mount: ``ro`` here is somebody's wish."""
    fs_options: frozenset[str]
    """Of the file system: ``ro`` here and not above is the kernel's doing, after an error."""


def parse(text: str) -> list[Mount]:
    """All lines that have the shape of proc(5); others are dropped."""
    mounts = []
    for line in text.splitlines():
        left, separator, right = line.partition(_SEPARATOR)
        before, after = left.split(), right.split()
        if separator and len(before) >= 6 and len(after) >= 3:
            mounts.append(
                Mount(
                    path=_OCTAL.sub(lambda match: chr(int(match[1], 8)), before[4]),
                    kind=after[0],
                    device=after[1],
                    mount_options=frozenset(before[5].split(",")),
                    fs_options=frozenset(after[2].split(",")),
                )
            )
    return mounts
