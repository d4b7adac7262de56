"""Tools of the field that are missing, crash, talk nonsense or hang: unable, by name, and nothing is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from greenroom.lab.gpus import STATE_ENV, LabError, build_driver, write_state
from greenroom.probes.host import run_command

MARK = "98765"
WAYS = {
    "crashes": "kill -SEGV $$",
    "talks nonsense": "echo '{]}'; echo ok",
    "says nothing": "exit 0",
    "refuses": "echo cannot >&2; exit 3",
}
CHECKS = {
    "cpu.stress": "stress-ng",
    "memory.stress": "stress-ng",
    "disk.verify": "fio",
    "loopback.tcp": "iperf3",
}


def words(check):
    return [
        sys.executable,
        "-m",
        "greenroom.cli.main",
        "check",
        "--profile",
        "light",
        "--json",
        "--only",
        check,
    ]


def result_of(ran, check):
    assert ran.stdout, ran.stderr
    return next(one for one in json.loads(ran.stdout)["results"] if one["check"] == check)


def fake(folder, name, script):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def left():
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [path] if MARK.encode() in path.read_bytes().split(b"\0") else []
        except OSError:
            continue
    return found


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("way", WAYS)
def test_what_a_tool_cannot_tell_is_unable_with_its_name(tmp_path, check, way):
    fake(tmp_path, CHECKS[check], WAYS[way])
    ran = run_command(words(check), timeout_s=100, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    one = result_of(ran, check)
    if one["outcome"] == "skipped":
        pytest.skip(one["reason"])
    assert one["outcome"] == "unable", one
    assert CHECKS[check] in one["reason"]


@pytest.fixture(scope="module")
def gpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpus")
    try:
        driver = build_driver(folder)
    except LabError as error:
        pytest.skip(str(error))
    write_state(folder / "state", node="gpu-01")
    return {"LD_LIBRARY_PATH": str(driver), STATE_ENV: str(folder / "state")}


@pytest.mark.parametrize("way", [*WAYS, "is missing"])
def test_a_workload_that_does_not_work_is_unable_with_its_name(gpus, tmp_path, way):
    if way != "is missing":
        fake(tmp_path, "python", WAYS[way])
    site = tmp_path / "site.toml"
    site.write_text(f'[stress]\ndevice = "cpu"\npython = "{tmp_path}/python"\n')
    argv = [*words("gpu_stress.compute"), "--expect-gpus", "8", "--expected", str(site)]
    one = result_of(run_command(argv, timeout_s=100, env=gpus), "gpu_stress.compute")
    assert one["outcome"] == "unable", one
    assert "gemm" in one["reason"]


def test_a_tool_that_hangs_is_ended_with_all_it_started(tmp_path):
    fake(tmp_path, "stress-ng", f"sleep {MARK} & sleep {MARK}")
    ran = run_command(words("cpu.stress"), timeout_s=100, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    one = result_of(ran, "cpu.stress")
    assert one["outcome"] == "unable"
    assert "stress-ng: not back after" in one["reason"]
    assert not left()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_leave_no_stress_behind(tmp_path, how):
    fake(tmp_path, "stress-ng", f"sleep {MARK} & sleep {MARK}")
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    process = subprocess.Popen(words("cpu.stress"), env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while not left() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left()
    process.send_signal(how)
    process.communicate(timeout=30)
    deadline = time.monotonic() + 5
    while left() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left()
