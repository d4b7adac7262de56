"""A machine to look at: the Host protocol, the real one, and what could not be seen."""

from __future__ import annotations

import contextlib
import glob
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from threading import Event
from typing import IO, Protocol, cast

MAX_OUTPUT_BYTES = 8 * 1024 * 1024
STOP_S = 0.2
"""A command that may be stopped is looked after this often."""


class ProbeUnavailable(Exception):
    """We could not look: tool missing, no permission, timeout, unreadable. Becomes ``unable``."""


LAST_SAID = "; it last said: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A finished command."""

    argv: tuple[str, ...]
    rc: int
    stdout: str
    stderr: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """What a file system has and has left. A file system without inodes of its own says 0 of 0."""

    total_bytes: int
    free_bytes: int
    total_inodes: int
    free_inodes: int


class Host(Protocol):
    """What checks may ask of a machine. Tests hand in a RecordedHost."""

    def read(self, path: str) -> str:
        """Text of a file. Raises ProbeUnavailable naming the path and why."""
        ...

    def drain(self, path: str) -> str:
        """Text that is there to be read now; for a source like /dev/kmsg that never ends."""
        ...

    def space(self, path: str, *, timeout_s: float = 0.0) -> Space:
        """Room on the file system that holds the path. Raises ProbeUnavailable.

        ``timeout_s``: give up after so long, for a mount that may hang; 0: wait as long as it takes.
        """
        ...

    def exists(self, path: str) -> bool:
        """Whether the path is there."""
        ...

    def glob(self, pattern: str) -> list[str]:
        """Paths that match, sorted."""
        ...

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str = "") -> Ran:
        """Run a command to its end. Raises ProbeUnavailable if missing or not back in time."""
        ...

    def now(self) -> float:
        """Unix time, s."""
        ...

    def wait(self, seconds: float) -> None:
        """Let time pass between two readings of a counter: a second at most."""
        ...


class LocalHost:
    """This machine. When ``stop`` is set, from whatever thread, its running commands are killed."""

    def __init__(self, stop: Event | None = None) -> None:
        self._stop = stop

    def read(self, path: str) -> str:  # noqa: D102 - the protocol says it
        try:
            return Path(path).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise ProbeUnavailable(f"{path}: {error.strerror or error}") from error

    def drain(self, path: str) -> str:  # noqa: D102
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            raise ProbeUnavailable(f"{path}: {error.strerror or error}") from error
        try:
            return b"".join(_records(handle)).decode("utf-8", "replace")
        except OSError as error:
            raise ProbeUnavailable(f"{path}: {error.strerror or error}") from error
        finally:
            os.close(handle)

    def space(self, path: str, *, timeout_s: float = 0.0) -> Space:  # noqa: D102
        if timeout_s:
            # A process of its own: one that sits in a dead mount cannot be called back, only left behind.
            from greenroom.probes.isolation import call_isolated  # noqa: PLC0415 - it needs this module

            try:
                return call_isolated(lambda: self.space(path), timeout_s=timeout_s, grace_s=0.1)
            except ProbeUnavailable as error:
                text = str(error)
                raise ProbeUnavailable(text if text.startswith(path) else f"{path}: {text}") from error
        try:
            stat = os.statvfs(path)
        except OSError as error:
            raise ProbeUnavailable(f"{path}: {error.strerror or error}") from error
        return Space(
            total_bytes=stat.f_blocks * stat.f_frsize,
            free_bytes=stat.f_bavail * stat.f_frsize,
            total_inodes=stat.f_files,
            free_inodes=stat.f_favail,
        )

    def exists(self, path: str) -> bool:  # noqa: D102
        return Path(path).exists()

    def glob(self, pattern: str) -> list[str]:  # noqa: D102
        return sorted(glob.glob(pattern))  # noqa: PTH207 - patterns are absolute, from checks

    def now(self) -> float:  # noqa: D102
        return time.time()

    def wait(self, seconds: float) -> None:  # noqa: D102
        time.sleep(seconds)

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str = "") -> Ran:
        """Run ``argv`` (never a shell string) in its own process group, killed whole at the deadline."""
        return run_command(argv, timeout_s=timeout_s, stdin=stdin, stop=self._stop)


def _records(handle: int) -> Iterator[bytes]:
    """One read a record, as /dev/kmsg wants it, until there is no more now or the limit is reached."""
    size = 0
    while size < MAX_OUTPUT_BYTES:
        try:
            chunk = os.read(handle, 65536)
        except BlockingIOError:
            return
        except BrokenPipeError:  # the ring buffer overwrote the record under us: go on with the next
            continue
        if not chunk:
            return
        size += len(chunk)
        yield chunk


def run_command(
    argv: Sequence[str],
    *,
    timeout_s: float,
    stdin: str = "",
    env: dict[str, str] | None = None,
    stop: Event | None = None,
) -> Ran:
    """Run to the end, to the deadline, s, or until ``stop`` is set; then the whole process group is killed.

    Raises:
        ProbeUnavailable: the command is missing, not allowed, was not back in time, or said too much.
    """
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})},
        )
    except FileNotFoundError as error:
        raise ProbeUnavailable(f"{argv[0]}: not installed") from error
    except OSError as error:
        raise ProbeUnavailable(f"{argv[0]}: {error.strerror or error}") from error
    said = {"out": bytearray(), "err": bytearray()}
    try:
        why = _collect(process, stdin.encode(), said, deadline=started + timeout_s, stop=stop)
    except BaseException:
        _kill_group(process)
        raise
    out, err = (text.decode("utf-8", "replace") for text in said.values())
    if why:
        _kill_group(process)
        last = (err[-1000:] or out[-1000:]).strip().splitlines()[-1:]
        told = f"{LAST_SAID}{last[0]:.100}" if last and why is Late.TIME else ""
        raise ProbeUnavailable(f"{argv[0]}: {why.value.format(timeout_s)}, killed{told}")
    return Ran(
        argv=tuple(argv),
        rc=process.returncode,
        stdout=out,
        stderr=err,
        seconds=time.monotonic() - started,
    )


class Late(Enum):
    """Why a command is not waited for."""

    TIME = "not back after {:g} s"
    STOPPED = "stopped"
    SIZE = f"printed more than {MAX_OUTPUT_BYTES // 1024 // 1024} MiB"


def _collect(
    process: subprocess.Popen[bytes],
    stdin: bytes,
    said: dict[str, bytearray],
    *,
    deadline: float,
    stop: Event | None,
) -> Late | None:
    """Feed the command and keep what it says until it has ended; None: it has."""
    with selectors.DefaultSelector() as selector:
        for pipe, text in zip((process.stdout, process.stderr), said.values(), strict=True):
            assert pipe is not None
            selector.register(pipe, selectors.EVENT_READ, text)
        assert process.stdin is not None
        os.set_blocking(process.stdin.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE)
        while selector.get_map():
            if (left_s := deadline - time.monotonic()) <= 0:
                return Late.TIME
            if stop and stop.is_set():
                return Late.STOPPED
            for key, _ in selector.select(min(left_s, STOP_S) if stop else left_s):
                if key.data is None:
                    stdin, done = _feed(key.fd, stdin)
                else:
                    chunk = os.read(key.fd, 65536)
                    key.data.extend(chunk)
                    done = not chunk
                    if len(key.data) > MAX_OUTPUT_BYTES:
                        return Late.SIZE
                if done:
                    selector.unregister(key.fileobj)
                    cast("IO[bytes]", key.fileobj).close()
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return Late.TIME
    return None


def _feed(fd: int, stdin: bytes) -> tuple[bytes, bool]:
    """What is still to be written, and whether that was all; a command that does not listen has had all."""
    try:
        stdin = stdin[os.write(fd, stdin[:65536]) :]
    except BlockingIOError:
        return stdin, False
    except BrokenPipeError:
        return b"", True
    return stdin, not stdin


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End the whole group; a process stuck in the kernel (state D) is left behind, not waited for."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout, process.stderr):
        assert pipe is not None
        with contextlib.suppress(BrokenPipeError):
            pipe.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(2)
