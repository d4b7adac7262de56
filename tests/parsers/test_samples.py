"""Recorded real-world samples with the right reading, where they lie beside the checkout."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from greenroom.faults import load
from greenroom.model.words import Severity
from greenroom.parsers.registry import read, recognise
from greenroom.policy.incidents import fold

SHARED = Path(os.environ.get("GREENROOM_SHARED", Path(__file__).parents[3] / "shared"))
SAMPLES = SHARED / "data/samples.jsonl"
# The samples' own names of what our catalogue calls otherwise.
NAMES = {
    r"xid:(\d+)": r"gpu.xid.\1",
    r"sxid:(\d+)": r"nvswitch.sxid.\1",
    r"aer:corr.*": "pcie.aer.corrected",
    r"pcie_width_degraded": "pcie.link.limited",
    r"edac:(ce|ue)": r"host.edac.\1",
    r"mce:(fatal|corrected)": r"host.mce.\1",
    r"mlx5:cable_unplugged": "nic.module.unplugged",
    r"mlx5:module_high_temp": "nic.module.hot",
    r"nvme:timeout_reset": "nvme.timeout",
    r"nvme:access_denied": "nvme.access_denied",
    r"blk:medium_error": "disk.medium_error",
    r"ext4:error": "host.fs.error",
    r"hung_task": "host.hung_task",
    r"lustre:.*": "storage.lustre",
    r"amd:athub_uncorrectable": "gpu.amd.ras.uncorrectable",
    r"gsp_heartbeat_timeout": "gpu.gsp.timeout",
    r"nvrm:api_mismatch": "gpu.driver.mismatch",
    r"nvml:lib_rm_version_mismatch": "gpu.driver.mismatch",
    r"nvml:gpu_is_lost": "gpu.lost",
    r"nvml:unknown_error": "nvml.999",
    r"smi:fan_unreadable": "gpu.sensor.unreadable",
    r"row_remap_pending": "gpu.row_remap.pending",
    r"nvlink_(all_)?down": "gpu.nvlink.down",
    r"dcgm:(\d+)": r"dcgm.\1",
    r"ib:down_(polling|disabled)": r"ib.port.\1",
    r"ib:vf_down": "ib.vf.down",
    r"nccl:port_error": "nccl.port_error",
    r"nccl:bandwidth_drop": "nccl.bandwidth.drop",
    r"kill_task_failed": "slurm.node.kill_task_failed",
    r"dstate": "gpu.process.dstate",
}
# What an operator must not be sent away with: these are no fault of the hardware.
HARMLESS = ("ok", "app", "info", "ok_if_unused")


# What the samples call the tool, and which parser must recognise it.
KINDS = {
    "xid": {"kernel-log", "nhc"},
    "sxid": {"kernel-log"},
    "aer": {"kernel-log"},
    "edac": {"kernel-log"},
    "mce": {"kernel-log"},
    "nvme": {"kernel-log"},
    "ibstat": {"ibstat"},
    "ibstatus": {"ibstatus"},
    "nvlink": {"nvlink"},
    "dcgm": {"dcgm-log"},
    "dcgm-json": {"dcgmi-diag-json"},
    "amd-smi": {"amd-smi"},
    "xpu-smi": {"xpu-smi"},
    "fabricmanager": {"fabricmanager"},
    "alb": {"alb"},
    "nccl": {"nccl-log"},
    "slurm": {"sinfo", "scontrol-node", "slurm-log"},
}


def samples():
    if not SAMPLES.exists():
        return []
    return [json.loads(line) for line in SAMPLES.read_text(encoding="utf-8").splitlines()]


def ours(code):
    for pattern, name in NAMES.items():
        if re.fullmatch(pattern, code):
            return re.sub(pattern, name, code)
    return ""


NAMED = [pytest.param(one, id=one["id"]) for one in samples() if ours(str(one["correct"].get("code", "")))]


@pytest.mark.skipif(not SAMPLES.exists(), reason="the recorded samples are not beside this checkout")
def test_the_samples_are_there():
    assert len(samples()) > 50


@pytest.mark.parametrize("sample", NAMED)
def test_a_sample_is_read_right(sample):
    wanted = ours(sample["correct"]["code"])
    incidents = fold(read(sample["raw"]).sightings, load())
    # NVLink reports are told by sub-code, and Xid 154 by the recovery that the driver asks for.
    instead = "gpu.recovery." if wanted == "gpu.xid.154" else f"{wanted}."
    right = [one for one in incidents if one.code == wanted or one.code.startswith(instead)]
    assert right, incidents
    device = re.search(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}", str(sample["correct"].get("device", "")))
    if device and wanted.startswith(("gpu.", "nic.")):
        assert any(one.device.startswith(device[0]) for one in right)
    if sample["correct"]["severity"] in HARMLESS:
        assert not any(one.severity is Severity.FAIL for one in incidents), incidents


@pytest.mark.parametrize(
    "sample", [pytest.param(one, id=one["id"]) for one in samples() if one["kind"] in KINDS]
)
def test_a_sample_is_recognised(sample):
    assert recognise(sample["raw"]) in KINDS[sample["kind"]]
