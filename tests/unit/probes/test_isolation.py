from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from greenroom.probes.host import ProbeUnavailable, run_command
from greenroom.probes.isolation import CallBug, call_isolated


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123
        return stat.read().rpartition(")")[2].split()[0] != "Z"


def gone_soon(pid: int) -> bool:
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        if not alive(pid):
            return True
        time.sleep(0.02)
    return False


def test_value_comes_back():
    assert call_isolated(lambda: {"a": (1, 2)}, timeout_s=5) == {"a": (1, 2)}
    assert call_isolated(lambda: "x" * 1_000_000, timeout_s=5) == "x" * 1_000_000


def test_could_not_tell_comes_back():
    def look():
        raise ProbeUnavailable("no fio")

    with pytest.raises(ProbeUnavailable, match="no fio"):
        call_isolated(look, timeout_s=5)


def test_a_bug_is_a_bug_with_its_traceback():
    with pytest.raises(CallBug, match="ZeroDivisionError"):
        call_isolated(lambda: 1 / 0, timeout_s=5)


def test_an_answer_that_cannot_travel_is_a_bug():
    with pytest.raises(CallBug, match="pickle"):
        call_isolated(lambda: lambda: 1, timeout_s=5)


def test_it_does_not_hold_the_callers_pipes():
    paths = call_isolated(
        lambda: [str(Path(f"/proc/self/fd/{number}").readlink()) for number in range(3)], timeout_s=5
    )
    assert paths == ["/dev/null"] * 3


def test_death_is_could_not_tell():
    with pytest.raises(ProbeUnavailable, match="died"):
        call_isolated(lambda: os.kill(os.getpid(), signal.SIGKILL), timeout_s=5)


def test_deadline_ends_the_call_and_the_command_it_started(tmp_path):
    note = tmp_path / "pid"

    def stick():
        run_command(["sh", "-c", f"echo $$ > {note}; exec sleep 60"], timeout_s=60)

    started = time.monotonic()
    with pytest.raises(ProbeUnavailable, match=r"not back after 0.5 s"):
        call_isolated(stick, timeout_s=0.5)
    assert time.monotonic() - started < 3
    assert gone_soon(int(note.read_text()))


def test_deadline_ends_one_that_does_not_listen(tmp_path):
    note = tmp_path / "pid"

    def deaf():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        note.write_text(str(os.getpid()))
        run_command(["sh", "-c", f"trap '' TERM; echo $$ > {note}.sh; sleep 60; :"], timeout_s=60)

    with pytest.raises(ProbeUnavailable):
        call_isolated(deaf, timeout_s=0.5)
    assert gone_soon(int(note.read_text()))
    assert gone_soon(int((tmp_path / "pid.sh").read_text()))


def test_interrupt_of_the_caller_ends_the_call(tmp_path):
    note = tmp_path / "pid"

    def stick():
        note.write_text(str(os.getpid()))
        time.sleep(60)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGVTALRM, interrupt)
    killer = subprocess.Popen(["sh", "-c", f"sleep 0.4; kill -VTALRM {os.getpid()}"])
    with pytest.raises(KeyboardInterrupt):
        call_isolated(stick, timeout_s=30)
    signal.signal(signal.SIGVTALRM, before)
    killer.wait()
    assert gone_soon(int(note.read_text()))


@pytest.mark.parametrize(
    ("shell", "says"),
    [
        ("echo one; echo two >&2; exec sleep 60", r"sh: not back after 0.5 s, killed; it last said: two$"),
        ("exec sleep 60", r"sh: not back after 0.5 s, killed$"),
        ("exec yes", r"sh: (printed more than 8 MiB|not back after 0.5 s), killed"),
        ("exec >&- 2>&-; exec sleep 60", r"sh: not back after 0.5 s, killed$"),
    ],
)
def test_a_command_that_does_not_end_is_killed_and_quoted(shell, says):
    with pytest.raises(ProbeUnavailable, match=says):
        run_command(["sh", "-c", shell], timeout_s=0.5)


def test_a_command_is_fed_and_read_to_the_end():
    text = "x" * 300_000
    ran = run_command(
        ["sh", "-c", "cat; cat /dev/zero 2>/dev/null | head -c 100000 >&2; exit 3"], timeout_s=20, stdin=text
    )
    assert (ran.rc, ran.stdout, len(ran.stderr)) == (3, text, 100_000)
    assert run_command(["true"], timeout_s=20, stdin=text).rc == 0  # it does not listen
