"""Output of gpu-burn -> for each GPU how fast it was, and whether it was found faulty, died or did nothing.

Its exit code says nothing (0 also with faulty GPUs: wilicc/gpu-burn issue 12), and "OK" is printed for a GPU
that never began (issue 14): what counts are the figures of the progress lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PROGRESS = re.compile(
    r"(?P<percent>\d{1,3}(?:\.\d)?)%\s+proc'd: (?P<done>.*?)\s+errors: (?P<errors>.*?)\s+temps: "
)
_DONE = re.compile(r"(-?\d{1,18}) \((\d{1,9}) Gflop/s\)")
_ERRORS = re.compile(r"(-?\d{1,18})\s*(\(DIED!\)|\(WARNING!\))?")
_STATE = re.compile(r"^\s*GPU (\d{1,3}): (OK|FAULTY)\s*$", re.MULTILINE)
_REFUSED = re.compile(r"^(?:Couldn't .*|No clients are alive.*|.*\bError in \".*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Burnt:
    """One GPU."""

    index: int
    gflops: int
    """Of the last progress line, Gflop/s; 0: it did nothing."""
    died: bool = False
    """Its process ended before the time."""
    faulty: bool = False
    """Wrong results, as gpu-burn's last table says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One run."""

    gpus: tuple[Burnt, ...]
    """Empty: there is no whole result."""
    said: str = ""
    """What it complained of."""


def parse(text: str) -> Outcome:
    """The last progress line and the table at the end; without either there is no result."""
    states = {int(gpu): state for gpu, state in _STATE.findall(text)}
    rows = list(_PROGRESS.finditer(text.replace("\r", "\n")))
    refused = _REFUSED.search(text)
    said = refused[0].strip()[:200] if refused else ""
    if not rows or not states:
        return Outcome(gpus=(), said=said)
    speeds = [int(speed) for _, speed in _DONE.findall(rows[-1]["done"])]
    died = [
        any(index < len(words) and "DIED" in words[index] for words in map(_marks, rows))
        for index in range(len(speeds))
    ]
    gpus = tuple(
        Burnt(
            index=index,
            gflops=speeds[index] if index < len(speeds) else 0,
            died=index < len(died) and died[index],
            faulty=state == "FAULTY",
        )
        for index, state in sorted(states.items())
    )
    return Outcome(gpus=gpus, said=said)


def _marks(row: re.Match[str]) -> list[str]:
    """For each GPU what stands behind its number of errors."""
    return [mark for _, mark in _ERRORS.findall(row["errors"])]
