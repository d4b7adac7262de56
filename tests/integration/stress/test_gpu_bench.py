"""`bench/gpu.sh` as a rehearsal: one table, nothing missing."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from greenroom.probes.host import run_command

BENCH = str(Path(__file__).parents[3] / "bench/gpu.sh")


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_one_table_of_all_that_is_measured():
    ran = run_command([BENCH, "--cpu", "2"], timeout_s=200, env={"PYTHON": sys.executable})
    assert ran.rc == 0, ran.stdout + ran.stderr
    for figure in (
        "fp32 TFLOP/s",
        "memory patterns GB/s",
        "memory_triad GB/s",
        "launch us",
        "all_reduce busbw",
    ):
        assert figure in ran.stdout
    assert "not measured" not in ran.stdout
