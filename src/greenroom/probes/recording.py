"""A machine written down: every answer a probe gave, so that it can be played back exactly elsewhere."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from greenroom.model.jsonish import Unreadable, from_json, to_json
from greenroom.probes.host import Host, ProbeUnavailable, Ran, Space

T = TypeVar("T")
SCHEMA = 1
FILE = "recording.json"
MAX_TEXT_CHARS = 2_000_000
PYTHON = "python3"
"""Stands for the interpreter of whoever records or plays back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tape:
    """What was asked and answered. A text, or the reason why there was none."""

    files: dict[str, str] = field(default_factory=dict)
    later: dict[str, str] = field(default_factory=dict)
    """What the files said that a check read again after it had waited."""
    spaces: dict[str, Space] = field(default_factory=dict)
    globs: dict[str, list[str]] = field(default_factory=dict)
    present: dict[str, bool] = field(default_factory=dict)
    commands: dict[str, Ran] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)
    """``read PATH``, ``space PATH`` or ``run ARGV`` -> why."""
    clock: float = 0.0
    schema: int = SCHEMA
    version: str = ""
    """Of Greenroom."""

    def add(self, other: Tape) -> None:
        """Take over what another tape has."""
        for name in ("files", "later", "spaces", "globs", "present", "commands", "unavailable"):
            getattr(self, name).update(getattr(other, name))


class RecordingHost:
    """Asks another host and writes the answers down. See host.Host."""

    def __init__(self, host: Host) -> None:
        """Nothing on tape yet."""
        self._host = host
        self._waited = False
        self.tape = Tape(clock=host.now())

    def read(self, path: str) -> str:
        """And on tape."""
        return self._text(path, self._host.read)

    def drain(self, path: str) -> str:
        """And on tape."""
        return self._text(path, self._host.drain)

    def _text(self, path: str, ask: Callable[[str], str]) -> str:
        try:
            text = ask(path)
        except ProbeUnavailable as error:
            self.tape.unavailable[f"read {path}"] = str(error)
            raise
        first_time = not self._waited or path not in self.tape.files
        files = self.tape.files if first_time else self.tape.later
        files[path] = text[:MAX_TEXT_CHARS]
        return text

    def space(self, path: str, *, timeout_s: float = 0.0) -> Space:
        """And on tape."""
        try:
            space = self._host.space(path, timeout_s=timeout_s)
        except ProbeUnavailable as error:
            self.tape.unavailable[f"space {path}"] = str(error)
            raise
        self.tape.spaces[path] = space
        return space

    def exists(self, path: str) -> bool:
        """And on tape."""
        return self.tape.present.setdefault(path, self._host.exists(path))

    def glob(self, pattern: str) -> list[str]:
        """And on tape."""
        return self.tape.globs.setdefault(pattern, self._host.glob(pattern))

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str = "") -> Ran:
        """And on tape."""
        line = _line(argv)
        try:
            ran = self._host.run(argv, timeout_s=timeout_s, stdin=stdin)
        except ProbeUnavailable as error:
            self.tape.unavailable[f"run {line}"] = str(error)
            raise
        self.tape.commands[line] = ran
        return ran

    def now(self) -> float:
        """The time at which the recording began, so that it plays back alike."""
        return self.tape.clock

    def wait(self, seconds: float) -> None:
        """What is read again from now on is kept beside the first reading."""
        self._host.wait(seconds)
        self._waited = True


class ReplayHost:
    """Plays a tape back. What is not on it was not asked then: unavailable, never invented."""

    def __init__(self, tape: Tape) -> None:
        """Of a recorded machine."""
        self._tape = tape
        self._waited = False

    def read(self, path: str) -> str:
        """As recorded."""
        if self._waited and path in self._tape.later:
            return self._tape.later[path]
        return self._get(self._tape.files, path, f"read {path}")

    def drain(self, path: str) -> str:
        """As recorded."""
        return self.read(path)

    def space(self, path: str, *, timeout_s: float = 0.0) -> Space:  # noqa: ARG002
        """As recorded."""
        return self._get(self._tape.spaces, path, f"space {path}")

    def exists(self, path: str) -> bool:
        """As recorded."""
        return self._tape.present.get(path, path in self._tape.files)

    def glob(self, pattern: str) -> list[str]:
        """As recorded."""
        return list(self._tape.globs.get(pattern, ()))

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str = "") -> Ran:  # noqa: ARG002
        """As recorded."""
        line = _line(argv)
        return self._get(self._tape.commands, line, f"run {line}")

    def now(self) -> float:
        """When it was recorded."""
        return self._tape.clock

    def wait(self, seconds: float) -> None:  # noqa: ARG002 - nothing to wait for
        """The second readings are played from now on."""
        self._waited = True

    def _get(self, answers: dict[str, T], key: str, asked: str) -> T:
        if key not in answers:
            raise ProbeUnavailable(self._tape.unavailable.get(asked, f"{key}: not in the recording"))
        return answers[key]


def save(tape: Tape, folder: Path) -> Path:
    """Write ``recording.json``; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    path.write_text(json.dumps(to_json(tape), indent=1, ensure_ascii=False), encoding="utf-8")
    return path


def load(folder: Path) -> Tape:
    """Read a recording. Raises ValueError naming the file and what is wrong with it."""
    path = folder / FILE if folder.is_dir() else folder
    try:
        tape = from_json(Tape, json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from error
    except (ValueError, Unreadable) as error:
        raise ValueError(f"{path}: not a recording: {error}") from error
    if tape.schema != SCHEMA:
        raise ValueError(f"{path}: schema {tape.schema}, expected {SCHEMA}")
    return tape


def _line(argv: Sequence[str]) -> str:
    return " ".join([PYTHON if argv[0] == sys.executable else argv[0], *argv[1:]])


# Identifiers of machines and people, each replaced by one of the same shape so that parsers still read it.
_IDENTIFIERS = (
    re.compile(r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"),
    re.compile(r"\b(?:[0-9a-fA-F]{2}:){5}(?:[0-9a-fA-F]{2}:?){1,15}\b"),
    re.compile(r"\b0x[0-9a-fA-F]{16}\b"),
    re.compile(r"\b[0-9a-fA-F]{4}(?::[0-9a-fA-F]{4}){3}\b"),
    re.compile(r"\b(?!127\.|0\.|255\.)(?:\d{1,3}\.){3}\d{1,3}\b(?![.\d])"),
    re.compile(r"(?<=machine-id\n)[0-9a-f]{32}|\b[0-9a-f]{32}\b"),
    re.compile(r'(?i)(?<=serial number: )\S+|(?<="serial": ")[^"]+|(?<="serial_number": ")[^"]+'),
)
_SERIAL_FILES = re.compile(r"(serial|uuid|machine-id|boot_id|hostname)$")


class Anonymiser:
    """The same identifier gets the same replacement throughout a recording."""

    def __init__(self, *names: str) -> None:
        """``names``: host names and the like, replaced wherever they stand."""
        self._known: dict[str, str] = {}
        self._serials: list[str] = []
        self._names = [name for name in names if len(name) > 2]

    def tape(self, tape: Tape) -> Tape:
        """A copy without identifiers."""
        for path, text in tape.files.items():
            if _SERIAL_FILES.search(path) and text.strip():
                self._replacement(text.strip())
        self._serials = sorted(self._known, key=len, reverse=True)
        return from_json(Tape, self._walk(to_json(tape)))

    def _walk(self, value: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._walk(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self._walk(item) for key, item in value.items()}
        return value

    def text(self, text: str) -> str:
        """The text without identifiers."""
        for serial in self._serials:
            text = text.replace(serial, self._known[serial])
        for pattern in _IDENTIFIERS:
            text = pattern.sub(lambda match: self._replacement(match[0]), text)
        for index, name in enumerate(self._names):
            text = re.sub(rf"\b{re.escape(name)}\b", f"host{index}", text)
        return text

    def _replacement(self, found: str) -> str:
        if found in self._known.values():
            return found
        if found not in self._known:
            number = f"{len(self._known) + 1:x}"
            if re.fullmatch(r"(?:\d{1,3}\.){3}\d{1,3}", found):
                count = len(self._known) + 1
                self._known[found] = f"192.0.2.{count % 256}"
            else:
                self._known[found] = _same_shape(found, number)
        return self._known[found]


def _same_shape(found: str, number: str) -> str:
    """Zeros in place of letters and digits, the number at the end."""
    start = 2 if found.startswith("0x") else 0
    shape = list(found[:start] + re.sub(r"[0-9A-Za-z]", "0", found[start:]))
    places = [index for index, char in enumerate(shape) if char == "0" and index >= start]
    for index, digit in zip(reversed(places), reversed(number), strict=False):
        shape[index] = digit
    return "".join(shape)
