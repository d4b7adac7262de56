"""The controller is killed, slurmctld goes away, Slurm's commands hang or babble."""

from __future__ import annotations

import os
import time
from itertools import groupby

import pytest
from gated import Gated, dice

from greenroom.model.words import Phase, Rung, Verdict
from greenroom.policy.events import RunFinished

ROUNDS = int(os.environ.get("GREENROOM_ROUNDS", "20"))
NODES = ["gpu-01", "gpu-02", "gpu-03", "gpu-04"]
FAULTS = {"gpu-02": ["ecc"], "gpu-03": ["missing"]}
SETTLED = {**dict.fromkeys(NODES, Phase.IN_SERVICE), "gpu-03": Phase.WITH_PERSON}


def settled(gated):
    return {node: phase for node, phase in gated.phases().items() if node in SETTLED} == SETTLED


def story_of(gated, node):
    """The phases a node went through, each once in a row, and the verdicts and repairs in order."""
    entries = gated.store.timeline(node, limit=10_000)
    phases = [phase for phase, _ in groupby(entry.phase_after.value for entry in entries)]
    verdicts = [entry.event["verdict"] for entry in entries if entry.kind == RunFinished.__name__]
    repairs = [
        action["rung"] for entry in entries for action in entry.actions if action["kind"] == "StartRepair"
    ]
    return phases, verdicts, repairs


@pytest.mark.timeout(1200)
def test_killed_again_and_again_it_ends_where_an_undisturbed_run_ends(lab_dir):
    """SIGKILL at random moments: the same phases, verdicts and repairs, each repair done once."""
    with Gated(lab_dir / "calm", nodes=NODES, faults=FAULTS) as gated:
        gated.until(lambda: settled(gated), seconds=150)
        calm = {node: story_of(gated, node) for node in NODES}
    random, kills, laps = dice(), 0, 0
    while kills < ROUNDS:
        laps += 1
        with Gated(lab_dir / f"killed-{laps}", nodes=NODES, faults=FAULTS) as gated:
            lap = 0
            while not settled(gated) and lap < ROUNDS:
                time.sleep(random.uniform(0.1, 2.0))
                gated.controller.stop(gated.cluster, kill=True)
                kills, lap = kills + 1, lap + 1
                time.sleep(random.uniform(0.0, 0.5))
                gated.controller.start(gated.cluster)
            gated.until(
                lambda gated=gated: settled(gated), seconds=150
            )  # a slow machine needs more than that
            gated.until(lambda gated=gated: not gated.store.pending(), seconds=30)
            assert {node: story_of(gated, node) for node in NODES} == calm
            done = gated.cluster.done
            assert {node: done.count(("reboot", node)) for node in NODES} == {
                "gpu-01": 0, "gpu-02": 1, "gpu-03": 1, "gpu-04": 0,
            }  # fmt: skip
            assert [what for what in done if what[0] == "replace"] == [("replace", "gpu-02")]


def test_slurmctld_away_for_a_minute(lab_dir):
    """No verdict lost, no node released, the controller answers and says so."""
    with Gated(lab_dir / "away", nodes=["gpu-01", "gpu-02"], check="sleep 8") as gated:
        gated.until(lambda: (state := gated.store.load("gpu-01")) and state.run_id)
        gated.until(
            lambda: len([job for job in gated.cluster.client.read().jobs if job.state == "RUNNING"]) == 2
        )
        gated.cluster.stop_ctld()
        stopped = time.monotonic()
        gated.until(lambda: gated.controller.health().get("scheduler_away"), seconds=40)
        gated.until(lambda: gated.store.load("gpu-01").verdict is Verdict.FIT, seconds=40)
        answered = []
        while time.monotonic() - stopped < 60:
            answered.append(bool(gated.controller.health()))
            gated.cli("nodes")
            time.sleep(1)
        assert all(answered)
        assert [alert.key for alert in gated.store.alerts(open_only=True)] == ["scheduler-away"]
        gated.cluster.start_ctld()
        gated.until_free("gpu-01", "gpu-02")
        assert gated.store.alerts(open_only=True) == []
        assert [run.verdict for run in gated.store.runs()] == ["fit", "fit"]


def test_commands_that_hang_or_babble_release_nothing(lab_dir):
    with Gated(
        lab_dir / "unruly", nodes=["gpu-01", "gpu-02"], faults={"gpu-02": ["missing"]}, unruly=True
    ) as gated:
        gated.until_free("gpu-01")
        gated.until_phase(Phase.WITH_PERSON, "gpu-02", seconds=120)
        gated.until(lambda: gated.store.load("gpu-02").standing == "held")
        before = {state.node: state for state in gated.store.states()}
        for mode in ("hang", "garbage"):
            gated.mode(mode)
            gated.until(lambda: gated.controller.health().get("scheduler_away"), seconds=60)
            started = time.monotonic()
            assert gated.controller.health()["scheduler_away"]
            assert time.monotonic() - started < 2  # responsive while a command hangs
            time.sleep(3)
            gated.mode("")
            gated.until(lambda: gated.controller.health().get("scheduler_away") == "", seconds=60)
            shown = gated.cluster.node("gpu-02")
            assert "DRAIN" in shown.flags
            assert "greenroom:" in shown.reason
        assert {state.node: state for state in gated.store.states()} == before


def test_a_hold_lost_in_a_crash_of_slurmctld_is_written_again(lab_dir):
    """slurmctld is killed right after the drain: the drain is lost, and comes back."""
    with Gated(lab_dir / "lost", nodes=["gpu-01"], faults={"gpu-01": ["missing"]}) as gated:
        gated.until_phase(Phase.WITH_PERSON, "gpu-01", seconds=120)
        assert gated.store.load("gpu-01").attempts[0].rung is Rung.REBOOT
        gated.cluster.client.batch(["update nodename=gpu-01 state=resume", "update nodename=gpu-01 extra="])
        gated.cluster.wait_for("gpu-01", "IDLE", "DRAIN", seconds=30)
        assert "greenroom:" in gated.cluster.node("gpu-01").reason
        assert gated.phase("gpu-01") is Phase.WITH_PERSON
