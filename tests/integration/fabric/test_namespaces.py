"""Real ranks on real links: eight hosts in network namespaces, each fault on one of them."""

from __future__ import annotations

import importlib.util
import sys
import threading
from pathlib import Path
from random import Random

import namespaces
import pytest

from greenroom.model.words import Outcome
from greenroom.probes.host import LocalHost
from greenroom.runner.campaign import Wish
from greenroom.runner.fabric import WAYS, PairTest, run_campaign
from greenroom.runner.meeting import Limits
from greenroom.runner.pairs import Rules

pytestmark = [
    pytest.mark.skipif(not namespaces.able(), reason="network namespaces need root"),
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"),
    pytest.mark.timeout(600),
]
MIB = 1 << 20
# 200 Mbit/s are 0.025 GB/s; a link of 60 Mbit/s does not reach half of it.
LIMITS = Limits(busbw_gb_per_s=0.013)
SPEC = {"sizes_bytes": [MIB], "seconds": 1.0, "latency_tests": 20, "interface": "eth0"}
FAULTY = str(Path(__file__).with_name("faulty_workload.py"))


def campaign(nodes, *, instead=None, reach_s=15.0, group=2):
    wish = Wish(nodes=tuple(nodes), rules=Rules(shared_above=0.9, group=group))
    spec = SPEC | {"reach_s": reach_s}
    test = PairTest(way=WAYS["netns"], spec=spec, limits=LIMITS, deadline_s=60.0, instead=instead or {})
    return run_campaign(wish, test, LocalHost(), Random(1))


class Flapping(threading.Thread):
    """The node's link goes down for a second, every other second."""

    def __init__(self, node):
        super().__init__(daemon=True)
        self.link, self.over = namespaces.outside_of(node), threading.Event()

    def run(self):
        while not self.over.wait(1.0):
            namespaces.run("ip", "link", "set", self.link, "down")
            self.over.wait(1.0)
            namespaces.run("ip", "link", "set", self.link, "up")

    def stop(self):
        self.over.set()
        self.join(10)


def processes_left():
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        found += [path.parts[2]] if b"collective" in words else []
    return found


def test_slow_flapping_dead_and_wrong_are_each_named_and_the_others_cleared():
    with namespaces.hosts(8) as nodes:
        slow, flapping, dead, wrong = nodes[1], nodes[3], nodes[5], nodes[6]
        namespaces.shape(slow, 60)
        namespaces.unplug(dead)
        flaps = Flapping(flapping)
        flaps.start()
        try:
            trials, found = campaign(nodes, instead={wrong: (sys.executable, FAULTY)})
        finally:
            flaps.stop()
    told = [(trial.nodes, trial.outcome.value, trial.why) for trial in trials]
    assert {one.name for one in found.blamed} == {slow, flapping, dead, wrong}, told
    assert set(found.cleared) == set(nodes) - {slow, flapping, dead, wrong}, told
    assert not found.shared
    reasons = {node: [trial.why for trial in trials if node in trial.nodes] for node in nodes}
    assert any("GB/s, expected" in why for why in reasons[slow])
    assert any("wrong data" in why for why in reasons[wrong])
    assert any("no connection" in why for why in reasons[dead])
    assert not processes_left()


def test_eight_well_nodes_are_cleared_in_one_round():
    with namespaces.hosts(8) as nodes:
        trials, found = campaign(nodes)
    assert set(found.cleared) == set(nodes), [trial.why for trial in trials]
    assert (found.rounds, found.runs) == (1, 4)
    assert all(0.013 < trial.measured["busbw_gb_per_s"] < 0.03 for trial in trials)


def test_in_groups_the_wrong_one_is_found_by_halves():
    with namespaces.hosts(8) as nodes:
        trials, found = campaign(nodes, instead={nodes[4]: (sys.executable, FAULTY)}, group=4)
    told = [(trial.nodes, trial.outcome.value, trial.why) for trial in trials]
    assert [one.name for one in found.blamed] == [nodes[4]], told
    assert set(found.cleared) == set(nodes) - {nodes[4]}, told
    assert [len(trial.nodes) for trial in trials if trial.round == 1] == [4, 4]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("/no/such/python",), "No such file"),
        ((sys.executable, "-c", "print('garbage'); import sys; sys.exit(9)"), "exit code 9"),
        ((sys.executable, "-c", "import os; os.kill(os.getpid(), 11)"), "exit code -11"),
    ],
)
def test_a_node_whose_tool_is_missing_crashes_or_talks_nonsense_is_undecided_by_name(words, why):
    with namespaces.hosts(3) as nodes:
        trials, found = campaign(nodes, instead={nodes[0]: words}, reach_s=8.0)
    assert set(found.undecided) == {nodes[0]}
    assert why in found.undecided[nodes[0]]
    assert set(found.cleared) == set(nodes[1:])
    assert not found.blamed
    assert {trial.outcome for trial in trials if nodes[0] in trial.nodes} == {Outcome.UNABLE}
    assert not processes_left()
