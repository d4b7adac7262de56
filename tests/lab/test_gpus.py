"""The stand-in driver under unmodified readers. It proves how we read the ABI, nothing about hardware."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest
from stand_in import VERDICTS

from greenroom.lab.gpus import FAULTS, STATE_ENV, LabError, build_driver, write_state
from greenroom.model.jsonish import from_json
from greenroom.probes.host import run_command
from greenroom.probes.nvml import LOST, RESET_REQUIRED, Driver, GpuFacts

# An H100 has rows, not pages, to retire; no CPU on the same board; nothing says what must be idle.
NOT_HERE = {"gpu_memory.retired_pages", "gpu_nvlink.c2c", "gpu_modes.left_over", "gpu_direct.module"}
READER = [sys.executable, "-m", "greenroom.probes.nvml"]


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    try:
        return build_driver(tmp_path_factory.mktemp("driver"))
    except LabError as error:
        pytest.skip(str(error))


@pytest.fixture
def env(driver, tmp_path):
    return {"LD_LIBRARY_PATH": str(driver), STATE_ENV: str(tmp_path / "gpus")}


def read(env, tmp_path, **fleet) -> GpuFacts:
    write_state(tmp_path / "gpus", node="gpu-01", **fleet)
    return from_json(GpuFacts, json.loads(run_command(READER, timeout_s=20, env=env).stdout))


def check(env, *options: str) -> tuple[int, dict]:
    # not through a pipe to our own group: the run must end by itself, also when the driver hangs
    # and what the kernel logged before, by other tests or of this machine, is not ours
    wish = ["--json", "--expect-gpus", "8", "--since", str(time.time() - 1.0)]
    argv = [sys.executable, "-m", "greenroom.cli.main", "check", *wish, *options]
    ran = run_command(argv, timeout_s=60, env=env)
    assert ran.stdout, ran.stderr
    return ran.rc, json.loads(ran.stdout)


def test_healthy_fleet_reads_whole(env, tmp_path):
    facts = read(env, tmp_path)
    assert (facts.driver, facts.version, len(facts.gpus)) == (Driver.OK, "570.124.06", 8)
    for gpu in facts.gpus:
        assert gpu.name == "NVIDIA H100 80GB HBM3"
        assert gpu.uuid.startswith("GPU-")
        assert (gpu.pcie_gen, gpu.pcie_width, gpu.nvlinks_up) == (5, 16, 18)
        assert set(gpu.errors) == {"retired_pages", "retired_pending", "c2c_links", "c2c_up"}
    assert len({gpu.serial for gpu in facts.gpus}) == len({gpu.pci for gpu in facts.gpus}) == 8


def test_serials_follow_from_seed_and_node(tmp_path):
    first, again, other = (
        write_state(tmp_path / "s", node=node, serial_seed=seed).text()
        for node, seed in (("a", "x"), ("a", "x"), ("a", "y"))
    )
    assert first == again != other


def test_lost_and_reset_required_are_told_apart(env, tmp_path):
    facts = read(env, tmp_path, faults=["lost:0", "reset-required:7"])
    assert {gpu.index: gpu.trouble for gpu in facts.gpus if gpu.trouble} == {0: LOST, 7: RESET_REQUIRED}


def test_no_state_is_no_driver_and_no_library_is_no_library(driver, tmp_path):
    ran = run_command(
        READER, timeout_s=20, env={"LD_LIBRARY_PATH": str(driver), STATE_ENV: str(tmp_path / "none")}
    )
    assert json.loads(ran.stdout)["driver"] == Driver.NOT_LOADED
    ran = run_command(READER, timeout_s=20, env={"LD_LIBRARY_PATH": str(tmp_path)})
    assert json.loads(ran.stdout)["driver"] == Driver.LIBRARY_MISSING


def test_a_fault_appears_under_a_running_reader(env, tmp_path):
    write_state(tmp_path / "gpus", node="gpu-01")
    code = (
        "import pynvml as n, sys\n"
        "n.nvmlInit(); h = n.nvmlDeviceGetHandleByIndex(2)\n"
        "print(n.nvmlDeviceGetTotalEccErrors(h, 1, 0), flush=True); sys.stdin.readline()\n"
        "print(n.nvmlDeviceGetTotalEccErrors(h, 1, 0), flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, **env}, stdin=-1, stdout=-1, text=True
    ) as process:
        assert process.stdout.readline() == "0\n"
        write_state(tmp_path / "gpus", node="gpu-01", faults=["ecc"])
        out, _ = process.communicate("go\n", timeout=20)
    assert out == "3\n"


def test_every_fault_has_its_verdict():
    assert set(VERDICTS) == set(FAULTS)


def test_healthy_node_is_fit(env, tmp_path):
    write_state(tmp_path / "gpus", node="gpu-01")
    code, report = check(env)
    gpu = {r["check"]: r["outcome"] for r in report["results"] if r["check"].startswith("gpu_")}
    assert (code, report["verdict"]) == (0, "fit")
    assert {name for name, outcome in gpu.items() if outcome == "skipped"} == NOT_HERE
    assert set(gpu.values()) == {"pass", "skipped"}
    assert len(report["identity"]["gpus"]) == 8


@pytest.mark.parametrize("fault", VERDICTS)
def test_fault_gets_its_verdict(env, tmp_path, fault):
    write_state(tmp_path / "gpus", node="gpu-01", faults=[f"{fault}:5"])
    started = time.monotonic()
    code, report = check(env)
    found = {finding["code"] for result in report["results"] for finding in result["findings"]}
    assert code == VERDICTS[fault][0]
    assert found == set(VERDICTS[fault][1].split())
    assert time.monotonic() - started < 40
    if fault == "hang":
        reasons = {result["reason"] for result in report["results"] if result["check"].startswith("gpu_m")}
        assert any("gpu5" in reason for reason in reasons), "it is named"


def test_nvitop_reads_it_unmodified(env, tmp_path):
    write_state(tmp_path / "gpus", node="gpu-01", faults=["ecc:7", "lost:2"])
    ran = run_command([sys.executable, "-m", "nvitop", "-1"], timeout_s=60, env=env)
    assert ran.rc == 0, ran.stderr
    assert "H100 80GB HBM3" in ran.stdout
    assert "570.124.06" in ran.stdout
    assert "GPU is Lost" in ran.stdout
    assert "undefined symbol" not in ran.stderr
    row = next(line for line in ran.stdout.splitlines() if "00000000:E4:00.0" in line)
    assert row.split()[-2] == "3"


def test_wrong_names_say_what_there_is(tmp_path):
    with pytest.raises(LabError, match="remap-pending"):
        write_state(tmp_path / "gpus", node="n", faults=["eccc"])
    with pytest.raises(LabError, match="h100"):
        write_state(tmp_path / "gpus", node="n", model="h1000")


def test_built_once_for_each_source(driver):
    library = driver / "libnvidia-ml.so.1"
    before = library.stat().st_mtime_ns
    assert build_driver(driver.parent) == driver
    assert library.stat().st_mtime_ns == before
    assert (driver / "libnvidia-ml.so").exists()
