"""What a workload's process said, as its parent reads it. No PyTorch here."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from greenroom.model.results import Json

MODULE = "greenroom.workloads"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Its last word."""

    started: bool = False
    """It said hello: Python, PyTorch and the device were there."""
    result: Json | None = None
    """None: it did not get to a result."""
    unable: str = ""
    """Why it could not do its work, in its own words."""
    hello: Json = field(default_factory=dict)
    """Device, versions."""


def command(name: str, spec: Mapping[str, object], *, python: str = "") -> list[str]:
    """The command line that runs a workload."""
    return [python or sys.executable, "-m", MODULE, name, json.dumps(spec, separators=(",", ":"))]


def read(stdout: str) -> Answer:
    """The answer in a process's output. Lines of other origin (a library's warnings) are passed over."""
    hello: Json = {}
    result: Json | None = None
    unable, started = "", False
    for line in stdout.splitlines():
        if not line.startswith('{"event":'):
            continue
        try:
            said = json.loads(line)
        except ValueError:
            continue
        match said.pop("event", ""):
            case "hello":
                hello, started = said, True
            case "result":
                result = said
            case "unable":
                unable = str(said.get("reason", ""))[:500]
    return Answer(started=started, result=None if unable else result, unable=unable, hello=hello)
