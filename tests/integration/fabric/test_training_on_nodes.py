"""A real training over real links: whose gradients are wrong is named, who is slow is named and not failed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from threading import Event

import namespaces
import pytest

from greenroom.model.words import Outcome
from greenroom.probes.host import LocalHost
from greenroom.runner.fabric import WAYS, PairTest
from greenroom.runner.training import train

pytestmark = [
    pytest.mark.skipif(not namespaces.able(), reason="network namespaces need root"),
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"),
    pytest.mark.timeout(300),
]
FAULTY = str(Path(__file__).with_name("faulty_training.py"))


def trained(nodes, *, way="ddp", fault="", on=""):
    instead = {on: ("env", f"FAULT={fault}", sys.executable, FAULTY)} if on else {}
    spec = {"interface": "eth0", "steps": 5, "way": way}
    test = PairTest(way=WAYS["netns"], workload="training", spec=spec, deadline_s=90.0, instead=instead)
    return train(nodes, test, LocalHost(), Event(), slower_percent=200.0)


@pytest.mark.parametrize("way", ["ddp", "fsdp"])
def test_well_nodes_train_to_the_losses_of_one_process(way):
    with namespaces.hosts(4) as nodes:
        told = trained(nodes, way=way)
    assert told.outcome is Outcome.PASS, told.why
    losses = [one["losses"] for one in told.ranks]
    assert losses[0][-1] < losses[0][0]
    assert len({one["weights"] for one in told.ranks}) == 1


def test_a_flipped_bit_of_a_gradient_names_its_node():
    with namespaces.hosts(4) as nodes:
        told = trained(nodes, fault="flip", on=nodes[2])
    assert told.outcome is Outcome.FAIL
    assert told.culprits == (nodes[2],), told.why


def test_a_slow_node_is_a_straggler_and_the_training_passes():
    with namespaces.hosts(4) as nodes:
        told = trained(nodes, fault="slow", on=nodes[1])
    assert told.outcome is Outcome.PASS, told.why
    assert nodes[1] in [one.node for one in told.stragglers]


def test_a_dead_link_is_a_failure_of_nobody_yet():
    with namespaces.hosts(3) as nodes:
        namespaces.unplug(nodes[2])
        told = trained(nodes)
    assert told.outcome is Outcome.FAIL
    assert told.culprits == ()
    assert "fabric run" in told.why
