"""Outputs of tools, a good and a bad one of each shape; the right parser must recognise them."""

from __future__ import annotations

import json

import pytest

from greenroom.parsers.registry import all_parsers, read, recognise

IBSTAT = """CA 'mlx5_3'
\tCA type: MT4129
\tNumber of ports: 1
\tFirmware version: 28.39.1002
\tPort 1:
\t\tState: {state}
\t\tPhysical state: {physical}
\t\tRate: {rate}
\t\tBase lid: {lid}
\t\tSM lid: {sm}
\t\tLink layer: {layer}
"""
IB_GOOD = IBSTAT.format(state="Active", physical="LinkUp", rate=400, lid=12, sm=1, layer="InfiniBand")
ROCE_GOOD = IBSTAT.format(state="Active", physical="LinkUp", rate=200, lid=0, sm=0, layer="Ethernet")
IB_POLLING = IBSTAT.format(state="Down", physical="Polling", rate=10, lid=65535, sm=0, layer="InfiniBand")
IB_INIT = IBSTAT.format(
    state="Initializing", physical="LinkUp", rate=400, lid=65535, sm=0, layer="InfiniBand"
)
IB_NO_SM = IBSTAT.format(state="Active", physical="LinkUp", rate=400, lid=12, sm=0, layer="InfiniBand")

NVME = """Smart Log for NVME device:nvme2 namespace-id:ffffffff
critical_warning                        : {warning}
temperature                             : 41 C
available_spare                         : {spare}%
available_spare_threshold               : 10%
percentage_used                         : {used}%
media_errors                            : {media}
num_err_log_entries                     : 0
"""
NCCL = """# nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     8388608       2097152     float     sum      -1   120.10   69.85  122.23      0   119.80   70.02  122.54      {wrong}
   134217728      33554432     float     sum      -1   640.20  209.65  366.89      0   639.90  209.75  367.06      0
# Out of bounds values : {bounds}
# Avg bus bandwidth    : 244.68
"""
DCGM4 = {
    "DCGM Diagnostic": {
        "test_categories": [
            {
                "category": "Hardware",
                "tests": [
                    {
                        "name": "memory",
                        "results": [
                            {"entity_group": "GPU", "entity_group_id": 1, "entity_id": 0, "status": "Pass"},
                            {"entity_group": "GPU", "entity_group_id": 1, "entity_id": 1, "status": "Pass"},
                        ],
                        "test_summary": {"status": "Pass"},
                    }
                ],
            }
        ]
    },
    "metadata": {"DCGM Version": "4.2.3", "version": "4.2.3"},
}


def dcgm(status):
    """The second GPU's result, not the first, is the bad one."""
    data = json.loads(json.dumps(DCGM4))
    result = data["DCGM Diagnostic"]["test_categories"][0]["tests"][0]["results"][1]
    result["status"] = status
    if status == "Fail":
        result["warnings"] = [
            {
                "error_category": 7,
                "error_id": 83,
                "error_severity": 2,
                "warning": "GPU 1 row remap failure occurred",
            }
        ]
    return json.dumps(data)


SMI_CSV = "index, pci.bus_id, ecc.errors.uncorrected.volatile.total\n0, 00000000:1A:00.0, 0\n1, 00000000:1B:00.0, {count}\n"

GOOD = {
    "ibstat": [IB_GOOD, ROCE_GOOD],
    "nvme-smart": [NVME.format(warning=0, spare=100, used=3, media=0)],
    "nccl-tests": [NCCL.format(wrong=0, bounds="0 OK")],
    "dcgmi-diag-json": [dcgm("Pass")],
    "nvidia-smi-csv": [SMI_CSV.format(count=0)],
}
BAD = {
    IB_POLLING: ("ibstat", "ib.port.polling", "mlx5_3/1"),
    IB_INIT: ("ibstat", "ib.port.init", "mlx5_3/1"),
    IB_NO_SM: ("ibstat", "ib.port.no_sm", "mlx5_3/1"),
    NVME.format(warning="0x4", spare=100, used=3, media=0): ("nvme-smart", "nvme.critical_warning", "nvme2"),
    NVME.format(warning=0, spare=5, used=3, media=0): ("nvme-smart", "nvme.spare", "nvme2"),
    NVME.format(warning=0, spare=100, used=3, media=17): ("nvme-smart", "nvme.media_errors", "nvme2"),
    NCCL.format(wrong=3, bounds="1 FAILED"): ("nccl-tests", "nccl.wrong", ""),
    dcgm("Fail"): ("dcgmi-diag-json", "dcgm.83", "gpu:1"),
    SMI_CSV.format(count=4): ("nvidia-smi-csv", "gpu.ecc.uncorrectable", "0000:1b:00"),
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in GOOD.items() for text in texts])
def test_a_good_output_tells_of_nothing_wrong_and_of_what_was_looked_at(kind, text):
    assert recognise(text) == kind
    reading = read(text)
    assert reading.sightings == ()
    assert reading.healthy > 0


@pytest.mark.parametrize("text", BAD)
def test_a_bad_output_is_found_with_its_device(text):
    kind, code, device = BAD[text]
    assert recognise(text) == kind
    found = {(one.code, one.device) for one in read(text).sightings}
    assert any(one.startswith(code) and (not device or place == device) for one, place in found), found


def test_a_skipped_test_is_no_pass():
    reading = read(dcgm("Skip"))
    assert reading.sightings == ()
    assert reading.healthy == 1  # the other GPU's


@pytest.mark.parametrize("text", [*BAD, *(text for texts in GOOD.values() for text in texts)])
def test_a_cut_output_raises_nothing(text):
    for end in range(0, len(text), 7):
        for kind in all_parsers():
            read(text[:end], kind)
