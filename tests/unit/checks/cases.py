"""Good and bad cases of every check: the proof that each can pass, and can find each fault it claims.

A module ``cases_<domain>.py`` beside this one holds ``CASES``; ``test_cases.py`` runs them all and is red
for a check without a good case, and for a fault that a check says it detects and no case shows.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from healthy import ask

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer
from greenroom.probes.nvml import GpuFacts
from greenroom.probes.recorded import RecordedHost


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A machine, and what one check must say of it."""

    check: str
    about: str
    """A few words: what is so about this machine."""
    finds: frozenset[str] = frozenset()
    """Codes of exactly these faults; none: the good case, and the check must have looked at something."""
    gpus: GpuFacts | None = None
    """None: eight healthy H100."""
    host: RecordedHost | Callable[[], RecordedHost] | None = None
    """Made anew where the recording is used up by the check (two reads in a row)."""
    expected: Expected | None = None
    since: float = 0.0
    on_bus: int = 0

    def ask(self) -> Answer:
        """The check's answer."""
        host = self.host() if callable(self.host) else self.host
        return ask(
            self.check,
            facts=self.gpus,
            host=host,
            expected=self.expected,
            since=self.since,
            on_bus=self.on_bus,
        )


def good(check: str, about: str, **machine: object) -> Case:
    """A machine that must pass."""
    return Case(check=check, about=about, **machine)  # type: ignore[arg-type]


def bad(check: str, code: str, about: str, **machine: object) -> Case:
    """A machine with that fault."""
    return Case(check=check, about=about, finds=frozenset(code.split()), **machine)  # type: ignore[arg-type]


def all_cases() -> list[Case]:
    """The cases of all modules beside this one."""
    names = [one.name for one in pkgutil.iter_modules([str(Path(__file__).parent)])]
    modules = [import_module(name) for name in sorted(names) if name.startswith("cases_")]
    return [case for module in modules for case in module.CASES]
