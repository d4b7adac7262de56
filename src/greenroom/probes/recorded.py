"""A machine out of a recording: the twin of LocalHost that tests hand to checks."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from greenroom.probes.host import ProbeUnavailable, Ran, Space

Answer = str | Ran | ProbeUnavailable | Callable[[Sequence[str]], Ran]


@dataclass(slots=True, kw_only=True)
class RecordedHost:
    """Files, outputs and a clock, as data. What was not recorded is not there."""

    files: Mapping[str, str] = field(default_factory=dict)
    later: Mapping[str, str] = field(default_factory=dict)
    """What files say after the first wait, where it is something else."""
    commands: Mapping[str, Answer] = field(default_factory=dict)
    """Command line (joined by blanks) or its first words -> output; the longest that fits answers."""
    spaces: Mapping[str, Space | ProbeUnavailable] = field(default_factory=dict)
    clock: float = 1_000_000.0
    """Unix time, s."""
    ran: list[tuple[str, ...]] = field(default_factory=list)
    """What was asked, in order."""
    waited_s: float = 0.0

    def read(self, path: str) -> str:
        """As recorded."""
        if self.waited_s and path in self.later:
            return self.later[path]
        if path not in self.files:
            raise ProbeUnavailable(f"{path}: No such file or directory")
        return self.files[path]

    def drain(self, path: str) -> str:
        """As recorded."""
        return self.read(path)

    def space(self, path: str, *, timeout_s: float = 0.0) -> Space:  # noqa: ARG002 - nothing hangs here
        """As recorded."""
        answer = self.spaces.get(path, ProbeUnavailable(f"{path}: No such file or directory"))
        if isinstance(answer, ProbeUnavailable):
            raise answer
        return answer

    def exists(self, path: str) -> bool:
        """A recorded file, or a folder above one."""
        prefix = path.rstrip("/") + "/"
        return any(name == path or name.startswith(prefix) for name in (*self.files, *self.spaces))

    def glob(self, pattern: str) -> list[str]:
        """Recorded files and folders that match, each part of the path by itself."""
        depth = pattern.count("/") + 1
        names = {"/".join(name.split("/")[:depth]) for name in self.files}
        return sorted(name for name in names if _matches(name, pattern))

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str = "") -> Ran:  # noqa: ARG002
        """The recorded output; a command that was not recorded is not installed."""
        self.ran.append(tuple(argv))
        line = " ".join(argv)
        key = max((key for key in self.commands if line.startswith(key)), key=len, default=None)
        answer = self.commands[key] if key is not None else ProbeUnavailable(f"{argv[0]}: not installed")
        if isinstance(answer, ProbeUnavailable):
            raise answer
        if isinstance(answer, str):
            return Ran(argv=tuple(argv), rc=0, stdout=answer, stderr="", seconds=0.0)
        return answer if isinstance(answer, Ran) else answer(argv)

    def now(self) -> float:
        """The recorded time."""
        return self.clock

    def wait(self, seconds: float) -> None:
        """The clock goes on, and ``later`` is now."""
        self.clock += seconds
        self.waited_s += seconds


def _matches(name: str, pattern: str) -> bool:
    parts, wanted = name.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted))
