"""Flipped bits in compute and in memory are found, on the device where they are; good machines are left in peace."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

from greenroom.probes.host import LocalHost, run_command
from greenroom.workloads.answers import read

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"),
    pytest.mark.timeout(300),
]
FAULTY = str(Path(__file__).with_name("faulty_stress.py"))
GEMM = {"cpu": 3, "size": 128, "seconds": 0.2, "precisions": ["fp32", "bf16"]}
MEMORY = {"cpu": 2, "max_mib": 8, "chunk_mib": 2}
GOOD_RUNS = int(os.environ.get("GREENROOM_GOOD_RUNS", "50"))
FIFTY = """
import json, sys
from greenroom.workloads import gemm, memory
times, *specs = map(json.loads, sys.argv[1:])
said = set()
for _ in range(times):
    for workload, spec in zip((gemm, memory), specs):
        for row in workload.run({**workload.DEFAULTS, **spec})["devices"]:
            for one in row.get("precisions", {"memory": row}).values():
                if "not_supported" not in one:
                    said.add((one["wrong"], one.get("wrong_results", 0), one.get("digest", "") and "digest"))
                    assert "broke" not in one, one
print("SAID", json.dumps(sorted(said)))
"""


def devices(name, spec, fault):
    ran = run_command([sys.executable, FAULTY, name, json.dumps(spec)], timeout_s=100, env={"FAULT": fault})
    result = read(ran.stdout).result
    assert result, ran.stderr + ran.stdout
    return {row["device"]: row for row in result["devices"]}


def test_a_bit_that_flips_now_and_then_in_a_product_is_found_where_it_flipped():
    rows = devices("gemm", GEMM, "rare")
    for precision in GEMM["precisions"]:
        assert rows["cpu1"]["precisions"][precision]["wrong_results"] >= 1
        for well in ("cpu0", "cpu2"):
            one = rows[well]["precisions"][precision]
            assert (one["wrong"], one["wrong_results"]) == (0, 0)


def test_a_product_that_is_always_wrong_in_the_same_way_is_found_too():
    rows = devices("gemm", GEMM, "always")
    one = rows["cpu1"]["precisions"]["fp32"]
    assert one["wrong"] >= 1
    assert "element" in one["first_wrong"]
    digests = {label: row["precisions"]["fp32"]["digest"] for label, row in rows.items()}
    assert digests["cpu0"] == digests["cpu2"] != digests["cpu1"]


def test_a_cell_that_does_not_hold_a_bit_is_found_with_its_place():
    rows = devices("memory", MEMORY, "memory")
    assert rows["cpu0"]["wrong"] == 0
    assert rows["cpu1"]["wrong"] >= 1
    assert f"byte {77 * 8:#x}" in rows["cpu1"]["first_wrong"]
    assert "(bit 42)" in rows["cpu1"]["first_wrong"]


def test_fifty_runs_on_a_good_machine_raise_no_alarm():
    words = [
        json.dumps(one)
        for one in (GOOD_RUNS, GEMM | {"seconds": 0.01}, MEMORY | {"max_mib": 2, "chunk_mib": 1})
    ]
    ran = LocalHost().run([sys.executable, "-c", FIFTY, *words], timeout_s=250)
    (line,) = [line for line in ran.stdout.splitlines() if line.startswith("SAID")] or [ran.stderr]
    assert line == 'SAID [[0, 0, ""], [0, 0, "digest"]]'
