"""Call a function in a process of its own that ends at a deadline, with everything it started.

A fork, not a thread: a thread that sits in a hung mount or driver can never be ended, and keeps
the whole program from ending.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from greenroom.probes.host import ProbeUnavailable

T = TypeVar("T")
GRACE_S = 1.0
"""How long a process may take to end its own commands before it is killed."""


class CallBug(Exception):
    """The function raised something that is no answer."""


def call_isolated(function: Callable[[], T], *, timeout_s: float, grace_s: float = GRACE_S) -> T:
    """The function's value. Whatever it changes stays in its process.

    ``grace_s``: how long it may take to end what it has started; short for one that starts nothing.

    Raises:
        ProbeUnavailable: raised by the function, or it was not back after ``timeout_s``.
        CallBug: the function raised anything else; the text is its traceback.
    """
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _be_child(function, writer)
    os.close(writer)
    try:
        data = _read_all(reader, deadline=time.monotonic() + timeout_s)
    except BaseException:
        _end(pid, grace_s)
        raise
    finally:
        os.close(reader)
    if data is None:
        running = _commands(pid)
        _end(pid, grace_s)
        while_ = f" while it ran {running[0]}" if running else ""
        raise ProbeUnavailable(f"not back after {timeout_s:.3g} s, ended{while_}")
    _, status = os.waitpid(pid, 0)
    try:
        kind, value = pickle.loads(data)  # noqa: S301 - written by our own child
    except (EOFError, pickle.UnpicklingError):
        raise ProbeUnavailable(f"the check's process died (wait status {status})") from None
    if kind == "unavailable":
        raise ProbeUnavailable(value)
    if kind == "bug":
        raise CallBug(value)
    result: T = value
    return result


def _be_child(function: Callable[[], Any], writer: int) -> NoReturn:
    """Run the function and write what became of it; never returns into the parent's code."""
    try:
        os.setsid()
        # A process that the kernel does not let go must not keep our caller's pipes open.
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nowhere, standard)
        # A signal that unwinds: whatever waits for a command ends that command's group on the way out.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        try:
            answer = pickle.dumps(("value", function()))
        except ProbeUnavailable as error:
            answer = pickle.dumps(("unavailable", str(error)))
        except Exception:  # noqa: BLE001 - carried to the parent, which raises it
            answer = pickle.dumps(("bug", traceback.format_exc()))
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(answer)
    finally:
        os._exit(0)


def _read_all(reader: int, *, deadline: float) -> bytes | None:
    """All bytes until the other end closes; None at the deadline (monotonic s)."""
    data = bytearray()
    while (left_s := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([reader], [], [], left_s)
        if ready:
            chunk = os.read(reader, 65536)
            if not chunk:
                return bytes(data)
            data += chunk
    return None


def _end(pid: int, grace_s: float) -> None:
    """End the process and all below it: politely, then for good. What the kernel holds is left behind."""
    below = _descendants(pid)
    _signal(pid, signal.SIGTERM)
    if not _gone(pid, grace_s):
        below += _descendants(pid)
        _signal(pid, signal.SIGKILL)
    for process in below:
        _signal(process, signal.SIGKILL)
    _gone(pid, grace_s)


def _gone(pid: int, grace_s: float) -> bool:
    """Whether the process ended within the grace time; it is reaped then."""
    deadline = time.monotonic() + grace_s
    while time.monotonic() < deadline:
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                time.sleep(0.02)
                continue
        return True
    return False


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _commands(pid: int) -> list[str]:
    """What runs below the process, the nearest first."""
    commands = []
    for process in _descendants(pid):
        with contextlib.suppress(OSError), open(f"/proc/{process}/cmdline", "rb") as file:  # noqa: PTH123
            commands.append(file.read(100).replace(b"\0", b" ").decode("utf-8", "replace").strip())
    return [command for command in commands if command]


def _descendants(pid: int) -> list[int]:
    """All processes below ``pid`` now, by /proc (proc(5), stat field 4 is the parent)."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 - names only
        if entry.isdigit():
            with contextlib.suppress(OSError, ValueError), open(f"/proc/{entry}/stat") as stat:  # noqa: PTH123
                parent = int(stat.read().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry))
    found, queue = [], [pid]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found
