"""Machines that are really broken: small file systems, links, processes, the kernel's log, odd tools."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time

import pytest
from broken import FAULTS

from greenroom.lab.gpus import STATE_ENV, LabError, build_driver, write_state
from greenroom.probes.host import run_command

APART = ["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "sh", "-ec"]
MADE = "mount -t sysfs none /sys; "


def may_be_apart() -> bool:
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return False
    return run_command([*APART, MADE + "true"], timeout_s=10).rc == 0


@pytest.fixture(scope="module")
def gpus(tmp_path_factory):
    """A healthy node's GPUs, as an environment."""
    folder = tmp_path_factory.mktemp("gpus")
    try:
        driver = build_driver(folder)
    except LabError as error:
        pytest.skip(str(error))
    write_state(folder / "state", node="gpu-01")
    return {"LD_LIBRARY_PATH": str(driver), STATE_ENV: str(folder / "state")}


# The clock of the kernel's log is some milliseconds off: "since" is a second earlier.
def check(env, *options: str, before: str = "", folder: str = "") -> dict:
    wish = ["check", "--json", "--expect-gpus", "8", "--since", str(time.time() - 1.0), *options]
    argv = [sys.executable, "-m", "greenroom.cli.main", *wish]
    if before:
        argv = [*APART, f'{MADE}{before}\nshift; exec "$@"', "sh", folder, *argv]
    ran = run_command(argv, timeout_s=60, env=env)
    assert ran.stdout, ran.stderr
    return {result["check"]: result for result in json.loads(ran.stdout)["results"]}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_machine_is_found(gpus, tmp_path, fault):
    if not may_be_apart():
        pytest.skip("needs root and name spaces")
    broken, folder = FAULTS[fault], tmp_path / "place"
    folder.mkdir()
    (tmp_path / "site.toml").write_text(broken.expected.replace("$1", str(folder)))
    only = ["--only", broken.check]
    sound = check(gpus, *only)[broken.check]
    assert broken.code not in [finding["code"] for finding in sound["findings"]]
    site = ["--expected", str(tmp_path / "site.toml")] if broken.expected else []
    result = check(gpus, *only, *site, before=broken.shell, folder=str(folder))[broken.check]
    assert [finding["code"] for finding in result["findings"]] == [broken.code], result


DEAF = "trap '' TERM; while :; do sleep 1; done"
TOOLS = {
    "a tool that hangs and is deaf to SIGTERM": ("clock.synchronised", "chronyc", DEAF),
    "a tool that prints garbage": ("clock.synchronised", "chronyc", r"printf '\000\377[[[ garbage'"),
    "a tool that prints without end": ("clock.synchronised", "chronyc", "yes garbage"),
}


@pytest.mark.parametrize("about", TOOLS)
def test_an_odd_tool_makes_its_own_check_unable_and_no_other(gpus, tmp_path, about):
    name, tool, script = TOOLS[about]
    (tmp_path / tool).write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / tool).chmod(0o755)
    env = {**gpus, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    results = check(env, "--only", name, "--only", "gpu_memory.ecc", "--only", "memory.size")
    odd = results.pop(name)
    assert odd["outcome"] == "unable"
    assert tool in odd["reason"]
    assert {result["outcome"] for result in results.values()} <= {"pass", "skipped"}
    left = run_command(["pgrep", "-f", str(tmp_path / tool)], timeout_s=5).stdout
    assert not left, "it was left running"
