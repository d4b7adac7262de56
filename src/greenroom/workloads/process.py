"""A workload as a process: what it says, and its own end, whatever becomes of the one who started it."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import warnings
from types import ModuleType
from typing import Any

EXIT_UNABLE = 3
EXIT_LATE = 124


class Unable(Exception):
    """The work cannot be done here; the text says why."""


def say(event: str, **fields: object) -> None:
    """One line for the parent."""
    sys.stdout.write(json.dumps({"event": event, **fields}, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def first_line(error: Exception) -> str:
    """Kind of the error, and the first line of what it says."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else ''}"[:300]


def load_torch() -> ModuleType:
    """PyTorch, without its warnings on standard error.

    Raises:
        Unable: it is not installed, or does not start.
    """
    warnings.filterwarnings("ignore")
    try:
        import torch  # noqa: PLC0415 - the one place
    except ImportError as error:
        raise Unable(
            f"PyTorch is not there for {sys.executable}: {error} (pip install greenroom[deep])"
        ) from error
    return torch


def end_after(seconds: float) -> None:
    """End this process and all that it started after so long: a node that hangs leaves nothing behind."""

    def end() -> None:
        time.sleep(seconds)
        say("unable", reason=f"did not end within {seconds:.0f} s")
        # Its own group only if it leads one: else the parent would be ended, too.
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(EXIT_LATE)

    threading.Thread(target=end, daemon=True).start()


def end_with_parent() -> None:
    """End when standard input ends: over ssh or srun that is how a parent's death is seen."""

    def watch() -> None:
        while os.read(0, 4096):
            pass
        os._exit(EXIT_LATE)

    threading.Thread(target=watch, daemon=True).start()


def take(spec: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """The spec with its defaults.

    Raises:
        ValueError: a field is unknown or of another kind; the text names it.
    """
    for name, value in spec.items():
        if name not in defaults:
            raise ValueError(f"{name}: unknown; expected one of {', '.join(sorted(defaults))}")
        wanted = defaults[name]
        number = isinstance(wanted, int | float) and isinstance(value, int | float)
        if wanted is not None and not number and not isinstance(value, type(wanted)):
            raise ValueError(f"{name}: expected {type(wanted).__name__}, got {value!r:.60}")
    return {**defaults, **spec}
