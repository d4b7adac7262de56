"""What `diagnose` is given, as texts: a file, folder or tar, packed or not, or standard input."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

MAX_BYTES = 100 * 1024 * 1024
"""Of one text, and of all files of an archive, unpacked: a small archive must not become a large one."""
MAX_MEMBERS = 2000
HEAD_BYTES = 256 * 1024
BLOCK_BYTES = 1024 * 1024
_GZIP = b"\x1f\x8b"
_BAD_PACKING = (gzip.BadGzipFile, zlib.error, EOFError)


@dataclass(slots=True)
class Budget:
    """Bytes that may still be read."""

    left: int = MAX_BYTES


@dataclass(slots=True)
class Source:
    """One text, read as it is asked for."""

    name: str
    """Empty where there is only one."""
    file: BinaryIO
    budget: Budget

    def blocks(self) -> Iterator[str]:
        """The text in pieces; the first is small. A packed file that is broken ends where it breaks."""
        opened = _unpacked(self.file)
        size, decoder = HEAD_BYTES, None
        while self.budget.left > 0 and (data := self._filled(opened, size)):
            size = BLOCK_BYTES
            decoder = decoder or codecs.getincrementaldecoder(_encoding(data))("replace")
            yield decoder.decode(data)

    def _filled(self, opened: io.BufferedReader | gzip.GzipFile, size: int) -> bytes:
        """As many bytes as asked for, unless the file ends; a pipe gives them in small pieces."""
        parts = []
        while size > 0 and self.budget.left > 0:
            try:
                data = opened.read1(min(size, self.budget.left))
            except _BAD_PACKING:
                data = b""
            if not data:
                break
            parts.append(data)
            size -= len(data)
            self.budget.left -= len(data)
        return b"".join(parts)


def open_sources(source: str) -> Iterator[Source]:
    """Everything in the source.

    Raises:
        OSError, tarfile.TarError, EOFError: it cannot be read.
    """
    path = Path(source)
    if source == "-":
        yield from _from_file("", sys.stdin.buffer, Budget())
    elif path.is_dir():
        budget = Budget(left=4 * MAX_BYTES)
        for file in sorted(one for one in path.rglob("*") if one.is_file())[:MAX_MEMBERS]:
            with file.open("rb") as opened:
                yield from _from_file(str(file.relative_to(path)), opened, budget)
    elif path.is_file() and tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            yield from _members(archive)
    else:
        with path.open("rb") as opened:
            yield from _from_file("", opened, Budget())


def _from_file(name: str, file: BinaryIO, budget: Budget) -> Iterator[Source]:
    yield Source(name=name, file=file, budget=budget)


def _members(archive: tarfile.TarFile) -> Iterator[Source]:
    """Files of a tar, read in place: nothing is unpacked, so no path can lead astray."""
    budget = Budget()
    for count, member in enumerate(archive):
        if count >= MAX_MEMBERS or budget.left <= 0:
            return
        file = archive.extractfile(member) if member.isreg() else None
        if file is not None:
            yield Source(name=member.name, file=cast("BinaryIO", file), budget=budget)


def _encoding(start: bytes) -> str:
    """UTF-8, unless the first bytes say that it was saved as UTF-16 (Windows does)."""
    return "utf-16" if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"


def _unpacked(file: BinaryIO) -> io.BufferedReader | gzip.GzipFile:
    """The file, unpacked as it is read if it is packed."""
    buffered = file if isinstance(file, io.BufferedReader) else io.BufferedReader(cast("io.RawIOBase", file))
    return gzip.GzipFile(fileobj=buffered) if buffered.peek(2)[:2] == _GZIP else buffered
