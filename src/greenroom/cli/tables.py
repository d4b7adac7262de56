"""Plain tables: coloured on a terminal, whole lines in a file or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text


def console() -> Console:
    """A console that does not cut lines when its output goes to a file or a pipe."""
    return Console(width=None if sys.stdout.isatty() else 200, highlight=False)


def plain(text: str) -> str:
    """Text of a log or a tool without what would steer a terminal."""
    return "".join(
        char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}" for char in text
    )


def table(*columns: str, rows: Sequence[Sequence[str | Text]], empty: str) -> None:
    """Print a table, or a line saying why there is none. What is to be coloured comes as `Text`."""
    if not rows:
        print(empty)
        return
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        shown.add_column(column, overflow="fold")
    for row in rows:
        shown.add_row(*(cell if isinstance(cell, Text) else Text(plain(cell)) for cell in row))
    console().print(shown)
