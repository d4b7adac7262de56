"""Errors at the command line: say what is wrong and the next step; our own bug says so."""

from __future__ import annotations

import os
import sys
import traceback

from greenroom.model.words import Exit


class Misconfigured(Exception):
    """A file or setting is wrong; the text names file, line and field and what was expected."""


def explain(error: Exception) -> int:
    """Print an error for a person and return the exit code."""
    if isinstance(error, Misconfigured) or getattr(error, "is_config", False):
        print(f"greenroom: {error}", file=sys.stderr)
        return Exit.CONFIG
    if os.environ.get("GREENROOM_DEBUG") or not isinstance(error, OSError):
        traceback.print_exception(error)
    print(f"greenroom: this is a bug of ours, please report it: {error!r}", file=sys.stderr)
    return Exit.BUG
