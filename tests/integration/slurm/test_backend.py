from __future__ import annotations

import time

import pytest

from greenroom.lab.processes import wait_for
from greenroom.model.nodes import CheckJob, Want, Write
from greenroom.model.words import Rung, Standing
from greenroom.schedulers import SchedulerUnavailable
from greenroom.schedulers.slurm import SlurmScheduler


def write(node, want, *, hold=None, reason="checks", adopt=False):
    return Write(node=node, want=want, hold_id=hold or f"{node}-1", reason=reason, adopt=adopt)


def put(slurm, *writes):
    done = slurm.apply(writes)
    assert [one.write for one in done] == list(writes)
    return [one.detail for one in done]


def view(slurm, node, owned=None):
    (found,) = [one for one in slurm.nodes(owned or {}) if one.name == node]
    return found


def settle(slurm, node, standing, owned=None):
    """Wait for the ping after a resume."""
    seen = []
    assert wait_for(lambda: seen.append(view(slurm, node, owned)) or seen[-1].standing is standing, 10), seen[
        -1
    ]
    return seen[-1]


def admin(cluster, node, text):
    assert cluster.client.batch([f"update nodename={node} {text}"]) == []


def check(run_id, node, seconds="30"):
    argv = ("sleep", seconds)
    return CheckJob(run_id=run_id, node=node, argv=argv, env=(("TOKEN", "it's"),), timeout_s=60)


def test_hold_quarantine_check_hold_free(slurm, cluster, fresh):
    node = fresh()
    assert view(slurm, node).standing is Standing.FREE
    assert put(slurm, write(node, Want.HELD, reason='bad "quotes"\nand lines')) == [""]
    held = view(slurm, node)
    assert held.standing is Standing.HELD
    assert f"greenroom: bad quotes and lines [{node}-1]" in held.note
    assert put(slurm, write(node, Want.HELD)) == [""]
    assert "bad quotes" in view(slurm, node).note  # already ours: written only once

    with pytest.raises(SchedulerUnavailable, match="not quarantined"):
        slurm.launch(check("r1", node))
    assert put(slurm, write(node, Want.QUARANTINED)) == [""]
    assert cluster.node(node).marker == f"{node}-1"
    settle(slurm, node, Standing.QUARANTINED)
    user_job = cluster.submit_user_job(node=node, run_s=0)
    job = slurm.launch(check("r1", node))
    assert wait_for(lambda: view(slurm, node).our_jobs == (job,), 10)
    assert slurm.launch(check("r1", node)) == job
    assert view(slurm, node).jobs == ()

    # in use: the reservation cannot go, so the node is not free, and says so
    (detail,) = put(slurm, write(node, Want.FREE))
    assert "check job is in it" in detail
    assert "in use" in detail
    assert view(slurm, node).standing is Standing.QUARANTINED

    slurm.cancel("r1")
    slurm.cancel("never-started")
    assert wait_for(lambda: not view(slurm, node).our_jobs, 10)
    assert slurm.launch(check("r1", node)) == job  # ended, yet found again
    assert put(slurm, write(node, Want.HELD, hold=f"{node}-2")) == [""]
    settle(slurm, node, Standing.HELD)
    assert f"{node}-2" in cluster.node(node).reason
    assert not cluster.client.read().reservations.get(f"greenroom-{node}")
    assert put(slurm, write(node, Want.FREE, hold=f"{node}-2")) == [""]
    free = settle(slurm, node, Standing.FREE)
    assert not free.marked
    assert cluster.node(node).extra == ""
    assert free.note == "IDLE"  # 24.11 keeps the Reason; it is not shown as one that holds
    # the user's job was kept out all the time and starts now
    assert wait_for(lambda: user_job not in cluster.client.ask("squeue", "-h", "-o", "%i").split(), 10)


def test_what_a_check_job_gets(slurm, cluster, fresh, lab_dir):
    node = fresh()
    with pytest.raises(ValueError, match="two writes for one node"):
        slurm.apply([write(node, Want.HELD), write(node, Want.QUARANTINED)])
    assert put(slurm, write(node, Want.QUARANTINED)) == [""]
    settle(slurm, node, Standing.QUARANTINED)
    out = lab_dir / "env.txt"
    job = CheckJob(
        run_id="env",
        node=node,
        argv=("sh", "-c", f"env > {out}.new; mv {out}.new {out}"),
        env=(("TOKEN", "it's $a"),),
    )
    started = time.monotonic()
    slurm.launch(job)
    assert wait_for(out.exists, 10)
    assert time.monotonic() - started < 5  # no login shell in between
    env = dict(line.split("=", 1) for line in out.read_text().splitlines())
    assert env["TOKEN"] == "it's $a"
    assert env["SLURMD_NODENAME"] == node
    assert env["SLURM_JOB_RESERVATION"] == f"greenroom-{node}"
    assert env["SLURM_GPUS_ON_NODE"] == "8"
    assert "TZ" not in env
    assert put(slurm, write(node, Want.FREE)) == [""]


def test_somebody_elses_drain_is_left_alone(slurm, cluster, fresh):
    node = fresh()
    admin(cluster, node, 'state=drain reason="disk is odd"')
    assert view(slurm, node, {node: f"{node}-1"}).standing is Standing.FOREIGN
    for want in (Want.HELD, Want.QUARANTINED, Want.FREE):
        (detail,) = put(slurm, write(node, want))
        assert "held by somebody else" in detail
        assert "disk is odd [root]" in detail
    assert cluster.node(node).reason == "disk is odd"
    assert cluster.node(node).extra == ""
    assert f"greenroom-{node}" not in cluster.client.read().reservations
    with pytest.raises(SchedulerUnavailable, match="not held by us"):
        slurm.reboot(node, "x")


def test_an_admin_who_overwrites_our_reason_has_taken_over(slurm, cluster, fresh):
    node = fresh()
    put(slurm, write(node, Want.HELD))
    admin(cluster, node, 'state=drain reason="mine now"')
    assert cluster.node(node).marker == f"{node}-1"
    assert view(slurm, node, {node: f"{node}-1"}).standing is Standing.FOREIGN
    (detail,) = put(slurm, write(node, Want.FREE))
    assert "mine now" in detail
    assert "DRAIN" in cluster.node(node).flags


def test_an_admin_asks_for_a_reboot(slurm, cluster, fresh):
    node = fresh()
    admin(cluster, node, 'state=drain reason=" action : reboot "')
    seen = view(slurm, node)
    assert (seen.standing, seen.asked) == (Standing.FOREIGN, Rung.REBOOT)
    (refused,) = put(slurm, write(node, Want.HELD))
    assert "somebody else" in refused
    assert put(slurm, write(node, Want.HELD, reason="asked", adopt=True)) == [""]
    assert view(slurm, node).standing is Standing.HELD
    before = cluster.node(node).boot
    slurm.reboot(node, "asked")
    slurm.reboot(node, "asked")  # under way: left to it
    assert wait_for(lambda: cluster.node(node).boot > before, 15)
    settle(slurm, node, Standing.HELD)
    assert f"[{node}-1]" in cluster.node(node).reason
    assert cluster.node(node).marker == f"{node}-1"


def test_a_resumed_node_is_marked(slurm, cluster, fresh):
    node = fresh()
    put(slurm, write(node, Want.HELD))
    admin(cluster, node, "state=resume")
    assert settle(slurm, node, Standing.FREE).marked


def test_jobs_of_others(slurm, cluster, fresh):
    node = fresh()
    job = cluster.submit_user_job(node=node)
    assert wait_for(lambda: view(slurm, node).jobs == (job,), 10)
    assert put(slurm, write(node, Want.HELD)) == [""]
    assert view(slurm, node).jobs == (job,)
    with pytest.raises(SchedulerUnavailable, match="jobs are on it"):
        slurm.reboot(node, "x")
    assert slurm.requeue_jobs(node, "unfit") == [job]
    assert wait_for(lambda: not view(slurm, node).jobs, 15)
    cluster.client.ask("scancel", job)


def test_an_unexpected_reboot_is_ours_to_check(slurm, cluster, fresh):
    node = fresh()
    assert wait_for(lambda: time.time() - cluster.node(node).boot > 2, 5)
    cluster.crash(node)
    seen = settle(slurm, node, Standing.HELD)
    assert "Node unexpectedly rebooted" in seen.note
    # Slurm's clock has whole seconds: resumed within one, the node can count as rebooted once more.
    assert wait_for(lambda: time.time() - seen.boot > 3, 6)
    assert put(slurm, write(node, Want.QUARANTINED)) == [""]
    settle(slurm, node, Standing.QUARANTINED)
    assert put(slurm, write(node, Want.HELD)) == [""]


def test_a_held_node_that_was_lost_is_held_when_it_is_back(slurm, cluster, fresh):
    node = fresh()
    put(slurm, write(node, Want.HELD))
    cluster.crash(node)
    assert settle(slurm, node, Standing.HELD, {node: f"{node}-1"}).boot > 0


def test_things_of_the_site_in_extra_stay(slurm, cluster, fresh):
    node = fresh()
    admin(cluster, node, "extra=rack=7")
    assert put(slurm, write(node, Want.HELD)) == [""]
    assert view(slurm, node, {node: f"{node}-1"}).standing is Standing.HELD
    assert put(slurm, write(node, Want.QUARANTINED)) == [""]
    settle(slurm, node, Standing.QUARANTINED)
    assert put(slurm, write(node, Want.FREE)) == [""]
    assert cluster.node(node).extra == "rack=7"


def test_many_at_once_one_failing(slurm, cluster, fresh):
    first, second = fresh(), fresh()
    admin(cluster, second, 'state=drain reason="theirs"')
    details = put(
        slurm,
        *(write(node, Want.HELD) for node in (first, second, "nosuch", "bad name\nupdate nodename=n01")),
    )
    assert details[0] == ""
    assert "theirs" in details[1]
    assert details[2:] == ["Slurm has no such node", "not a node name"]


def test_a_hanging_command_is_given_up_at_its_deadline(cluster, tmp_path):
    for tool in ("scontrol", "squeue"):
        (tmp_path / tool).write_text("#!/bin/sh\nsleep 60\n")
        (tmp_path / tool).chmod(0o755)
    slow = SlurmScheduler.from_settings({"bin_dir": str(tmp_path), "command_timeout_s": 0.3})
    started = time.monotonic()
    with pytest.raises(SchedulerUnavailable, match=r"scontrol: not back after 0.3 s"):
        slow.nodes({})
    assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("echo garbage", "expected ReservationName"),
        (
            'case "$*" in *reserv*) ;; *version*) echo slurm 24.11.5;; *) echo "{}";; esac',
            "expected a JSON object",
        ),
        ('case "$*" in *reserv*) ;; *version*) echo slurm 22.05.8;; *) ;; esac', "no nodes at all"),
        ("echo 'slurm_load: Unable to contact' >&2; exit 1", "exit code 1: slurm_load: Unable to contact"),
    ],
)
def test_nonsense_is_no_answer(tmp_path, body, why):
    for tool in ("scontrol", "squeue"):
        (tmp_path / tool).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / tool).chmod(0o755)
    with pytest.raises(SchedulerUnavailable, match=why):
        SlurmScheduler.from_settings({"bin_dir": str(tmp_path)}).nodes({})


def test_missing_commands_are_no_answer(tmp_path):
    with pytest.raises(SchedulerUnavailable, match=r"scontrol: .*No such file"):
        SlurmScheduler.from_settings({"bin_dir": str(tmp_path)}).nodes({})


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"config": "x"}, r"slurm.config: unknown key; did you mean 'conf'\?"),
        ({"conf": 7}, "slurm.conf: expected str, got 7"),
        ({"command_timeout_s": "15"}, "slurm.command_timeout_s: expected float"),
        ({"command_timeout_s": 0}, "seconds above 0"),
        ({"command_timeout_s": True}, "expected float"),
    ],
)
def test_settings_that_are_wrong_are_named(settings, why):
    with pytest.raises(ValueError, match=why):
        SlurmScheduler.from_settings(settings)


def test_slurmctld_away_and_back(slurm, cluster):
    cluster.stop_ctld()
    try:
        with pytest.raises(SchedulerUnavailable):
            slurm.nodes({})
        with pytest.raises(SchedulerUnavailable):
            slurm.apply([write("n01", Want.HELD)])
    finally:
        cluster.start_ctld()
    assert wait_for(lambda: cluster.processes.pid("slurmctld"), 5)
    nodes = []
    assert wait_for(lambda: nodes.extend(try_nodes(slurm)) or nodes, 20)
    assert len(nodes) == len(cluster.nodes)


def try_nodes(slurm):
    try:
        return slurm.nodes({})
    except SchedulerUnavailable:
        return []
