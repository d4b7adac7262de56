"""`greenroom outliers` on reports as `check --json` writes them."""

from __future__ import annotations

import dataclasses
import json

import pytest

from greenroom.checks.frame import load_all
from greenroom.cli.main import main
from greenroom.model.jsonish import to_json
from greenroom.model.results import CheckResult
from greenroom.model.words import Outcome
from greenroom.probes.host import LocalHost
from greenroom.runner.run import Wish, run_checks


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Twelve reports; n3 is slow, n7 computes something else."""
    load_all()
    folder = tmp_path_factory.mktemp("reports")
    report = run_checks(Wish(node="n0", profile="light", only=("memory.size",)), LocalHost())
    for number in range(12):
        digest = "bb" if number == 7 else "aa"
        speed = 450.0 if number == 3 else 600.0 + number % 4
        looked = {
            "comparable": "H100; size 8192",
            "figures": {"bf16_tflops": {"gpu0": speed}},
            "digests": {"bf16": {"gpu0": digest}},
        }
        result = CheckResult(check="stress.gpu_compute", outcome=Outcome.PASS, looked=looked)
        one = dataclasses.replace(report, node=f"n{number}", results=(*report.results, result))
        (folder / f"n{number}.json").write_text(json.dumps(to_json(one)))
    return folder


def test_the_slow_and_the_wrong_are_named(folder, capsys):
    assert main(["outliers", str(folder), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [(one["node"], one["figure"]) for one in told["judged"]["outliers"]] == [
        ("n7", "bf16"),
        ("n3", "bf16_tflops"),
    ]
    assert main(["outliers", str(folder)]) == 1
    shown = capsys.readouterr().out
    assert "results in bf16" in shown
    assert "12 nodes" in shown


def test_too_few_to_compare_is_neither_good_nor_bad(folder, capsys):
    assert main(["outliers", str(folder / "n0.json"), str(folder / "n1.json")]) == 3
    assert "2 nodes alike, 10 are needed" in capsys.readouterr().out


def test_no_source_is_a_usage_error(folder):
    assert main(["outliers"]) == 64
    assert main(["outliers", str(folder), "--fleet"]) == 64
