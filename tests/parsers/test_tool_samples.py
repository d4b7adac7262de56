"""How many of the recorded samples of tools' outputs are read right, wrong, or not at all."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from greenroom.faults import load
from greenroom.model.words import Severity
from greenroom.parsers.registry import read
from greenroom.policy.incidents import fold

SHARED = Path(os.environ.get("GREENROOM_SHARED", Path(__file__).parents[3] / "shared"))
SAMPLES = SHARED / "data/samples.jsonl"
KERNEL = {
    "xid",
    "aer",
    "nvrm",
    "sxid",
    "edac",
    "nvme",
    "pcie",
    "mce",
    "mlx5",
    "amdgpu",
    "fs",
    "hung",
    "lustre",
}


def judge(sample):
    """Harmless must not be more than a note, harm must be told, "cannot be known" must stay that."""
    reading = read(sample["raw"])
    severity = sample["correct"]["severity"]
    told = [one for one in fold(reading.sightings, load()) if one.severity is not Severity.NOTE]
    if not reading.sightings and not reading.healthy:
        skipped = severity == "unknown" and reading.kind and reading.not_understood
        return "right" if skipped else "not understood"
    if severity.startswith("ok"):
        return "wrong" if told else "right"
    return "right" if reading.sightings else "wrong"


@pytest.mark.skipif(not SAMPLES.exists(), reason="the recorded samples are not beside this checkout")
def test_most_samples_are_read_right():
    samples = [json.loads(line) for line in SAMPLES.read_text(encoding="utf-8").splitlines()]
    tools = [one for one in samples if one["kind"] not in KERNEL]
    by_kind = defaultdict(Counter)
    for sample in tools:
        by_kind[sample["kind"]][judge(sample)] += 1
    for kind, counts in sorted(by_kind.items()):
        print(kind, dict(counts))
    total = sum(by_kind.values(), Counter())
    print("all", dict(total))
    assert total["right"] >= 39
    assert total["wrong"] <= 1  # NVLink of a PCIe card, told in prose: without the model it cannot be known
