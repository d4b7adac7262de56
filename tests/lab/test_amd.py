"""AMD GPUs: the stand-in libamd_smi.so under the unmodified amdsmi, through the checks."""

from __future__ import annotations

import os
import shutil

import pytest

from greenroom.lab.amd import build_amd_driver
from greenroom.model.words import Verdict
from greenroom.probes.amd import clock_reasons
from greenroom.probes.gpus import on_bus, read_gpus
from greenroom.probes.host import LocalHost
from greenroom.probes.nvml import NOT_SUPPORTED, Driver
from greenroom.runner.run import Wish, run_checks

pytestmark = pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="no C compiler")
SHARED = {
    "name": "AMD Instinct MI300X OAM", "pcie.gen": 5, "pcie.gen_max": 5, "pcie.width": 16, "pcie.width_max": 16,
    "ecc.volatile.uncorrected": 0, "pages.0": 0, "pages.threshold": 256, "temperature.0": 41, "nvlink.links": 7,
    "nvlink.up": 7, "busy.gpu": 0,
}  # fmt: skip


class AmdHost(LocalHost):
    """This machine with AMD accelerators on its bus."""

    def glob(self, pattern):
        if pattern == "/sys/bus/pci/devices/*/vendor":
            return [f"/sys/bus/pci/devices/0000:{slot:02x}:00.0/vendor" for slot in range(8)]
        return super().glob(pattern)

    def read(self, path):
        if path.startswith("/sys/bus/pci/devices/0000:0"):
            return "0x1002\n" if path.endswith("vendor") else "0x120000\n"
        return super().read(path)


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    return build_amd_driver(tmp_path_factory.mktemp("amd"))


@pytest.fixture
def gpus(library, tmp_path, monkeypatch):
    """Writes the state of eight GPUs; changes are of GPU 2, or of the node."""
    path = tmp_path / "state"
    monkeypatch.setenv("GREENROOM_LAB_GPUS", str(path))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(library))

    def write(*, count=8, node="", **changes):
        rows = [f"gpus.{key}={value}" for key, value in SHARED.items()]
        for index in range(count):
            rows += [
                f"{index}.uuid=u{index}",
                f"{index}.serial=0x{index:x}",
                f"{index}.pci=0000:0{index}:00.0",
            ]
        rows += [f"2.{key.replace('__', '.')}={value}" for key, value in changes.items()]
        path.write_text("\n".join(["node.driver=6.14.14", f"node.count={count}", node, *rows, ""]))
        host = AmdHost()
        return read_gpus(host, on_bus(host), timeout_s=20)

    return write


def test_readings_of_a_healthy_gpu(gpus):
    facts = gpus()
    assert (facts.driver, facts.vendor, facts.version, len(facts.gpus)) == (Driver.OK, "amd", "6.14.14", 8)
    gpu = facts.gpus[5]
    assert (gpu.name, gpu.uuid, gpu.serial) == ("AMD Instinct MI300X OAM", "u5", "0x0000000000000005")
    assert (gpu.pci, gpu.pcie_gen, gpu.pcie_width_max, gpu.nvlinks_up) == ("0000:05:00.0", 5, 16, 7)
    assert (gpu.ecc_volatile_uncorrected, gpu.retired_pages, gpu.temperature_c) == (0, 0, 41)
    assert gpu.errors["remapped_uncorrected"] == NOT_SUPPORTED
    assert "pci" not in gpu.errors


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, ""),
        ({"pages__0": 255}, ""),
        ({"ecc__volatile__uncorrected": 1}, "gpu.ecc.uncorrectable"),
        ({"pages__1": 1}, "gpu.retired_pages.pending"),
        ({"pages__2": 1}, "gpu.row_remap.failure"),
        ({"pages__0": 256}, "gpu.row_remap.failure"),
        ({"pcie__width": 8}, "gpu.pcie.downgraded"),
        ({"nvlink__up": 6}, "gpu.nvlink.down"),
        ({"name": "AMD Instinct MI210"}, ""),
        ({"fail": 12}, "gpu.missing"),
        ({"count": 7}, "gpu.missing"),
        ({"node": "node.init=34"}, "gpu.driver.absent"),
    ],
)
def test_the_same_checks_find_the_same_faults(gpus, changes, code):
    gpus(**changes)
    wish = Wish(node="n", expect_gpus=8)
    report = run_checks(wish, AmdHost())
    of_gpus = [result for result in report.results if result.check.startswith("gpu_")]
    found = {finding.code for result in of_gpus for finding in result.findings}
    assert found == ({code} if code else set()), found
    assert "kernel_log.xid" in report.left_out
    if not changes:
        assert {result.outcome for result in of_gpus} <= {"pass", "skipped"}
        passed = {result.check for result in of_gpus if result.outcome == "pass"}
        assert {
            "gpu_count.all_answer",
            "gpu_links.nvlink",
            "gpu_memory.retired_pages",
            "gpu_model.known",
        } <= passed
    if "name" in changes:  # several models: neither fit nor unfit
        assert report.verdict is not Verdict.FIT


def test_a_driver_that_hangs_costs_its_deadline_only(gpus):
    host = AmdHost()
    gpus(hang=0)
    with open(os.environ["GREENROOM_LAB_GPUS"], "a") as state:  # noqa: PTH123
        state.write("3.hang=1\n")
    facts = read_gpus(host, on_bus(host), timeout_s=2)
    assert (facts.driver, facts.vendor) == (Driver.HUNG, "amd")
    assert facts.message == "AMD SMI did not answer within 2 s"


def test_violations_in_the_bits_of_clock_reasons():
    assert clock_reasons({"active_ppt_pwr": True, "active_hbm_thrm": "N/A"}, 100) == 0x04
    assert clock_reasons({"active_prochot_thrm": True, "active_socket_thrm": True}, 0) == 0x61
    assert clock_reasons({}, "N/A") == 0
