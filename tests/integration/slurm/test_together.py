"""Pairs, a training and a bisection as steps of a real Slurm; the nodes share one network here."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

import greenroom.runner.fabric
from greenroom.cli.bisect import command as bisect
from greenroom.cli.fabric import command as fabric
from greenroom.probes.host import LocalHost
from greenroom.runner.campaign import Wish
from greenroom.runner.fabric import WAYS, PairTest, run_campaign
from greenroom.runner.pairs import Rules

FAULTY = str(Path(__file__).parents[1] / "fabric/faulty_workload.py")
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def four(fresh):
    return [fresh() for _ in range(4)]


@pytest.fixture
def nodes(four, cluster, monkeypatch):
    monkeypatch.setenv("SLURM_CONF", str(cluster.conf))
    return four


def run(command, *words):
    ran = CliRunner().invoke(command, [*words], standalone_mode=False)
    assert ran.exception is None, ran.exception
    return ran.return_value, ran.stdout


def test_the_node_on_which_a_step_fails_is_named(nodes):
    code, out = run(
        bisect, "-w", ",".join(nodes), "--deadline", "60", "--json",
        "--", "sh", "-c", f'[ "$SLURMD_NODENAME" != {nodes[2]} ]',
    )  # fmt: skip
    said = json.loads(out)
    assert code == 1, out
    assert [one["nodes"] for one in said["culprits"]] == [[nodes[2]]]


@needs_torch
def test_pairs_over_srun_name_the_node_with_wrong_data(nodes):
    spec = {"sizes_bytes": [1 << 18], "seconds": 0.3, "latency_tests": 5, "interface": "lo", "reach_s": 40.0}
    test = PairTest(
        way=WAYS["slurm"], spec=spec, deadline_s=90.0, instead={nodes[1]: (sys.executable, FAULTY)}
    )
    wish = Wish(nodes=tuple(nodes), rules=Rules(shared_above=0.9))
    trials, found = run_campaign(wish, test, LocalHost(), Random(1))
    told = [(one.nodes, one.outcome.value, one.why) for one in trials]
    assert [one.name for one in found.blamed] == [nodes[1]], told
    assert set(found.cleared) == set(nodes) - {nodes[1]}, told


@needs_torch
def test_inside_a_reservation_and_only_there(nodes, cluster):
    pair = ",".join(nodes[:2])
    admin = cluster.client
    admin.ask("scontrol", "create", "reservation", "ReservationName=test_together", "StartTime=now",
              "Duration=60", "Users=root", f"Nodes={pair}", "Flags=MAINT")  # fmt: skip
    words = ["run", "-w", pair, "--interface", "lo", "--size-mib", "1", "--seconds", "0.2", "--json"]
    try:
        code, out = run(fabric, *words, "--reservation", "test_together")
        assert code == 0, out
        assert json.loads(out)["findings"]["cleared"] == nodes[:2]
    finally:
        admin.ask("scontrol", "delete", "ReservationName=test_together")


@needs_torch
def test_a_late_node_is_tested_with_idle_ones_and_alone_if_there_are_none(nodes, cluster, monkeypatch):
    words = ["run", "-w", nodes[0], "--witnesses", "idle", "--interface", "lo", "--size-mib", "1",
             "--seconds", "0.2", "--json"]  # fmt: skip
    code, out = run(fabric, *words)
    assert code == 0, out
    said = json.loads(out)
    assert said["findings"]["cleared"] == [nodes[0]]
    assert len(said["trials"]) == 1

    monkeypatch.setattr(greenroom.runner.fabric, "idle_nodes", lambda _: [])
    code, out = run(fabric, *words, "--wait", "0.2")
    said = json.loads(out)
    assert code == 3, out
    assert [one["level"] for one in said["trials"]] == ["alone"]
    assert said["findings"]["undecided"] == {nodes[0]: "no partner was there; tested alone: pass"}


@needs_torch
def test_a_training_over_srun(nodes):
    code, out = run(
        fabric, "train", "-w", ",".join(nodes), "--interface", "lo", "--steps", "4",
        "--slower-percent", "900", "--json",
    )  # fmt: skip
    assert code == 0, out
    assert len(json.loads(out)["training"]["ranks"]) == 4
