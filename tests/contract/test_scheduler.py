"""What every scheduler back end promises, on the twin in memory and on a real Slurm."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from greenroom.lab.cluster import Cluster, missing_here
from greenroom.lab.processes import wait_for
from greenroom.model.nodes import CheckJob, Want, Write
from greenroom.model.words import Rung, Standing
from greenroom.schedulers import SchedulerUnavailable
from greenroom.schedulers.memory import MemoryNode, MemoryScheduler
from greenroom.schedulers.slurm import SlurmScheduler

NODES = [f"c{index:02d}" for index in range(1, 15)]


class Memory:
    """The twin, and what others do to its nodes."""

    def __init__(self) -> None:
        self.scheduler = MemoryScheduler([MemoryNode(name=name) for name in NODES])

    def drain_by_admin(self, node, reason, asked=None):
        seen = self.scheduler.cluster[node]
        seen.drained, seen.ours, seen.reserved, seen.asked = reason, False, False, asked

    def resume_by_admin(self, node):
        self.scheduler.cluster[node].drained = ""

    def user_job(self, node):
        self.scheduler.cluster[node].jobs.append("77")
        return "77"

    def go_away(self):
        self.scheduler.away = "gone"


class Slurm:
    """A real one."""

    def __init__(self, cluster) -> None:
        self.cluster = cluster
        self.scheduler = SlurmScheduler.from_settings({"conf": str(cluster.conf)})

    def drain_by_admin(self, node, reason, asked=None):
        reason = f"Action:{asked.value}" if asked else reason
        assert self.cluster.client.batch([f'update nodename={node} state=drain reason="{reason}"']) == []

    def resume_by_admin(self, node):
        assert self.cluster.client.batch([f"update nodename={node} state=resume"]) == []

    def user_job(self, node):
        return self.cluster.submit_user_job(node=node)

    def go_away(self):
        self.scheduler = SlurmScheduler.from_settings({"bin_dir": "/nowhere"})


@pytest.fixture(scope="module")
def cluster():
    if why := missing_here():
        pytest.skip(why)
    folder = Path(tempfile.mkdtemp(prefix="greenroom-lab-"))
    folder.chmod(0o755)
    with Cluster(folder, nodes=NODES, born_held=False, prolog=False) as cluster:
        yield cluster
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def names():
    return {kind: iter(NODES) for kind in ("memory", "slurm")}


@pytest.fixture(params=["memory", pytest.param("slurm", marks=pytest.mark.slurm)])
def backend(request):
    return Memory() if request.param == "memory" else Slurm(request.getfixturevalue("cluster"))


@pytest.fixture
def node(backend, names):
    """A node no other test has touched."""
    return next(names["memory" if isinstance(backend, Memory) else "slurm"])


def write(node, want, *, hold="1", adopt=False):
    return Write(node=node, want=want, hold_id=f"{node}-{hold}", reason="checks", adopt=adopt)


def put(backend, *writes):
    return [one.ok for one in backend.scheduler.apply(writes)]


def view(backend, node):
    (found,) = [one for one in backend.scheduler.nodes({}) if one.name == node]
    return found


def becomes(backend, node, standing):
    assert wait_for(lambda: view(backend, node).standing is standing, 10), view(backend, node)
    return view(backend, node)


def test_every_node_is_listed(backend, node):
    assert {one.name for one in backend.scheduler.nodes({})} == set(NODES)
    seen = view(backend, node)
    assert seen.standing is Standing.FREE
    assert seen.gpus == 8
    assert seen.boot > 0


def test_the_way_of_a_check(backend, node):
    job = CheckJob(run_id=f"{node}-5", node=node, argv=("sleep", "60"))
    for want in (Want.HELD, Want.HELD, Want.QUARANTINED, Want.QUARANTINED):
        assert put(backend, write(node, want)) == [True]
        becomes(backend, node, Standing(want.value))
    started = backend.scheduler.launch(job)
    assert backend.scheduler.launch(job) == started
    assert wait_for(lambda: view(backend, node).our_jobs == (started,), 10)
    assert put(backend, write(node, Want.FREE)) == [False]  # our check is still there
    backend.scheduler.cancel(job.run_id)
    backend.scheduler.cancel(job.run_id)
    assert wait_for(lambda: not view(backend, node).our_jobs, 10)
    assert put(backend, write(node, Want.FREE)) == [True]
    assert not becomes(backend, node, Standing.FREE).marked
    assert put(backend, write(node, Want.FREE)) == [True]


def test_no_check_starts_on_a_node_that_is_not_quarantined(backend, node):
    put(backend, write(node, Want.HELD))
    with pytest.raises(SchedulerUnavailable, match="not quarantined"):
        backend.scheduler.launch(CheckJob(run_id=f"{node}-6", node=node, argv=("true",)))


@pytest.mark.parametrize("want", [Want.HELD, Want.QUARANTINED, Want.FREE])
def test_a_hold_of_somebody_else_is_left_alone(backend, node, want):
    backend.drain_by_admin(node, "disk")
    assert put(backend, write(node, want)) == [False]
    seen = view(backend, node)
    assert seen.standing is Standing.FOREIGN
    assert "disk" in seen.note
    backend.resume_by_admin(node)


def test_an_admin_over_our_hold_has_taken_over(backend, node):
    put(backend, write(node, Want.HELD))
    backend.drain_by_admin(node, "mine")
    assert put(backend, write(node, Want.FREE)) == [False]
    assert view(backend, node).standing is Standing.FOREIGN


def test_a_hold_that_asks_for_a_repair_can_be_taken_over(backend, node):
    backend.drain_by_admin(node, "please", asked=Rung.REPLACE)
    seen = view(backend, node)
    assert (seen.standing, seen.asked) == (Standing.FOREIGN, Rung.REPLACE)
    assert put(backend, write(node, Want.HELD, adopt=True)) == [True]
    seen = view(backend, node)
    assert (seen.standing, seen.asked) == (Standing.HELD, None)


def test_who_undoes_our_hold_leaves_our_marker(backend, node):
    put(backend, write(node, Want.HELD))
    backend.resume_by_admin(node)
    assert becomes(backend, node, Standing.FREE).marked


def test_running_jobs_go_on_under_a_hold_until_they_are_requeued(backend, node):
    job = backend.user_job(node)
    assert wait_for(lambda: view(backend, node).jobs == (job,), 10)
    assert put(backend, write(node, Want.HELD)) == [True]
    assert view(backend, node).jobs == (job,)
    assert backend.scheduler.requeue_jobs(node, "unfit") == [job]
    assert wait_for(lambda: not view(backend, node).jobs, 15)
    assert backend.scheduler.requeue_jobs(node, "unfit") == []


def test_a_reboot_keeps_the_hold_and_shows_another_boot(backend, node):
    put(backend, write(node, Want.HELD))
    before = view(backend, node).boot
    backend.scheduler.reboot(node, "unfit")
    assert wait_for(lambda: view(backend, node).boot > before, 20)
    becomes(backend, node, Standing.HELD)


def test_a_scheduler_that_is_away_says_nothing_about_any_node(backend, node):
    backend.go_away()
    for call in (
        lambda: backend.scheduler.nodes({}),
        lambda: backend.scheduler.apply([write(node, Want.HELD)]),
        lambda: backend.scheduler.cancel("r"),
        lambda: backend.scheduler.requeue_jobs(node, "x"),
        lambda: backend.scheduler.reboot(node, "x"),
    ):
        with pytest.raises(SchedulerUnavailable):
            call()
