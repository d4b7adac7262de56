"""Daemons that the lab started: a name, a pid and the start time that proves the pid is still theirs."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from greenroom.lab.gpus import LabError

STOP_S = 10.0
"""How long a daemon may take to end before it is killed."""


class Processes:
    """Children of this process; a file remembers them for whoever has to clean up after it."""

    def __init__(self, record: Path, log_dir: Path) -> None:
        """``record``: the file. Output of each daemon goes to ``log_dir``."""
        self._record, self._log_dir = record, log_dir
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.RLock()

    def start(self, name: str, argv: Sequence[str], env: Mapping[str, str]) -> int:
        """Start a daemon in the foreground of its own session; its pid."""
        with (self._log_dir / f"{name}.out").open("ab") as log:
            try:
                child = subprocess.Popen(
                    list(argv),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    env=dict(env),
                )
            except OSError as error:
                raise LabError(f"{argv[0]}: {error.strerror or error}") from error
        with self._lock:
            self._children[name] = child
            self._save()
        return child.pid

    def pid(self, name: str) -> int:
        """Of a running daemon; 0 if it is not running."""
        child = self._children.get(name)
        return child.pid if child is not None and child.poll() is None else 0

    def end(self, name: str, *, kill: bool = False) -> None:
        """End a daemon and wait for it."""
        with self._lock:
            child = self._children.pop(name, None)
        if child is None:
            return
        with contextlib.suppress(ProcessLookupError):
            child.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        try:
            child.wait(STOP_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait(STOP_S)
        with self._lock:
            self._save()

    def names(self) -> list[str]:
        """Of all daemons started and not ended."""
        return list(self._children)

    def _save(self) -> None:
        rows = {
            name: [child.pid, started_at(child.pid)]
            for name, child in self._children.items()
            if child.poll() is None
        }
        draft = self._record.with_suffix(".draft")
        draft.write_text(json.dumps(rows, indent=1))
        draft.replace(self._record)


def started_at(pid: int) -> int:
    """Start time of a process in clock ticks after the boot (proc(5), stat field 22); 0 if it is gone."""
    try:
        fields = (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        )
    except OSError:
        return 0
    return 0 if fields[0] == "Z" else int(fields[19])


def end_recorded(record: Path) -> list[str]:
    """End what a lab that died left running: only pids whose start time is the recorded one."""
    try:
        rows: dict[str, list[int]] = json.loads(record.read_text())
    except (OSError, ValueError):
        return []
    alive = {name: pid for name, (pid, started) in rows.items() if started and started_at(pid) == started}
    for number in (signal.SIGTERM, signal.SIGKILL):
        for name, pid in alive.items():
            if started_at(pid) == rows[name][1]:
                os.kill(pid, number)
        if wait_for(lambda: not any(started_at(pid) == rows[name][1] for name, pid in alive.items()), STOP_S):
            break
    record.unlink(missing_ok=True)
    return list(alive)


def wait_for(condition: Callable[[], object], seconds: float, every_s: float = 0.05) -> bool:
    """Whether the condition came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(every_s)
    return True


def end_namespace(inode: int) -> None:
    """Kill every process in a mount namespace: all that runs on one machine of the lab."""
    if inode in (0, namespace_of(os.getpid())):
        return
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and namespace_of(int(entry.name)) == inode:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(entry.name), signal.SIGKILL)


def namespace_of(pid: int) -> int:
    """Inode of the mount namespace of a process; 0 if it is gone."""
    try:
        return Path(f"/proc/{pid}/ns/mnt").stat().st_ino
    except OSError:
        return 0


def command_of(pid: int) -> str:
    """Name of the program a process runs; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
