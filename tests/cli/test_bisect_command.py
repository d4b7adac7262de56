"""`greenroom bisect` with real processes: the culprit is named, nothing hangs, nothing is left behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from greenroom.cli.bisect import command
from greenroom.cli.main import main

GREENROOM = str(Path(sys.executable).with_name("greenroom"))
FAILS_WITH_N3 = "case ,{nodes}, in *,n3,*) echo broken >&2; exit 7;; esac"


def bisect(*words):
    ran = CliRunner().invoke(command, [*words], standalone_mode=False)
    assert ran.exception is None, ran.exception
    return ran


def shell(script, *options):
    return bisect("-w", "n[1-6]", "--via", "local", *options, "--", "sh", "-c", script)


def running(mark):
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += (
                [path] if mark.encode() in path.read_bytes() and b"pytest" not in path.read_bytes() else []
            )
        except OSError:
            continue
    return found


def test_the_node_is_named_and_each_run_told(tmp_path):
    ran = shell(FAILS_WITH_N3, "--save", str(tmp_path / "runs.json"))
    assert ran.return_value == 1
    assert "run 1: 6 nodes (n1,n2,n3,n4,n5,n6) fail" in ran.stdout
    assert "exit 7: broken" in ran.stdout
    saved = json.loads((tmp_path / "runs.json").read_text())
    assert [one["nodes"] for one in saved["culprits"]] == [["n3"]]
    assert saved["not_blamed"] == ["n1", "n2", "n4", "n5", "n6"]
    assert saved["runs"][0]["why"] == "exit 7: broken"


def test_what_hangs_has_failed_and_is_ended():
    ran = shell("case ,{nodes}, in *,n3,*) sleep 4321;; esac", "--deadline", "0.5", "--json")
    said = json.loads(ran.stdout)
    assert [one["nodes"] for one in said["culprits"]] == [["n3"]]
    assert "not back after 0.5 s" in said["runs"][0]["why"]
    assert not running("sleep\x004321")


def test_what_fails_everywhere_blames_nobody():
    ran = shell("exit 1", "--json")
    said = json.loads(ran.stdout)
    assert ran.return_value == 1
    assert [one["kind"] for one in said["culprits"]] == ["shared"]
    assert len(said["not_blamed"]) == 6


def test_what_passes_is_said_so():
    ran = shell("exit 0")
    assert ran.return_value == 0
    assert "passes on all 6 nodes" in ran.stdout


def test_what_fails_now_and_then_is_found_by_repeating(tmp_path):
    # Fails every third time on n3.
    script = f"case ,{{nodes}}, in *,n3,*) echo >>{tmp_path}/count; [ $(($(wc -l <{tmp_path}/count) % 3)) -ne 0 ];; esac"
    said = json.loads(shell(script, "--repeat", "3", "--json").stdout)
    assert [one["nodes"] for one in said["culprits"]] == [["n3"]]


@pytest.mark.parametrize("words", [("/no/such/tool",), ("/etc/hostname",)])
def test_a_command_that_cannot_be_started_is_no_node_s_fault(words):
    ran = bisect("-w", "n[1-4]", "--via", "local", "--json", "--", *words)
    said = json.loads(ran.stdout)
    assert ran.return_value == 3
    assert not said["culprits"]
    assert "could not be run" in said["ended_early"]
    assert {one["outcome"] for one in said["runs"]} == {"unable"}


def test_limits_end_it_with_what_is_known():
    ran = shell(FAILS_WITH_N3, "--max-runs", "3", "--json")
    said = json.loads(ran.stdout)
    assert ran.return_value == 3
    assert "3 runs are done" in said["ended_early"]
    assert said["smallest_failing"] == ["n1", "n2", "n3"]


def test_a_process_a_node_and_the_first_that_fails_ends_the_others(tmp_path):
    # ssh as a script that runs the command here, as sshd would: through a shell, on one string.
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n')
    ssh.chmod(0o755)
    script = "case ,$GREENROOM_NODES, in *,n2,*) [ $GREENROOM_RANK = 0 ] && exit 5; exec sleep 9876;; esac"
    ran = subprocess.run(
        [GREENROOM, "bisect", "-w", "n[1-4]", "--via", "ssh", "--json", "--deadline", "300",
         "--", "sh", "-c", script],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    said = json.loads(ran.stdout)
    assert ran.returncode == 1, ran.stderr
    assert [one["nodes"] for one in said["culprits"]] == [["n2"]]
    assert "n1: exit 5" in said["runs"][0]["why"]
    assert not running("sleep\x009876")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_leave_nothing_behind(how):
    words = ["bisect", "-w", "n[1-4]", "--via", "local", "--", "sleep", f"5432{how.value}"]
    process = subprocess.Popen([GREENROOM, *words], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    mark = f"sleep\x005432{how.value}"
    deadline = time.monotonic() + 30
    while len(running("env\x00GREENROOM")) + len(running(mark)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(how)
    process.communicate(timeout=30)
    assert process.returncode in (-how.value, 128 + how.value)
    assert not running(mark)


def test_fewer_nodes_than_needed_is_a_usage_error():
    assert main(["bisect", "-w", "n1", "--at-least", "2", "--", "true"]) == 64
