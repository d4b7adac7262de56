"""What must hold on a real Slurm: no early start, other people's drains, busy nodes, the fleet limit."""

from __future__ import annotations

import time

import pytest
from gated import Gated, Stream, dice

from greenroom.lab.processes import wait_for
from greenroom.lab.records import started_too_early, user_jobs
from greenroom.model.words import Phase, Verdict


def test_no_user_job_starts_on_a_node_that_is_not_admitted(lab_dir):
    """6 nodes join at random moments under a stream of jobs; the controller is away for a while."""
    random = dice()
    late = [f"gpu-{i:02d}" for i in range(2, 8)]
    with Gated(lab_dir / "early", nodes=["gpu-01"], late=late) as gated:
        with Stream(gated.cluster, rate=6.0) as stream:
            for index, node in enumerate(late):
                time.sleep(random.uniform(0.0, 4.0))
                if index == 2:
                    gated.controller.stop(gated.cluster, kill=True)
                gated.cluster.add(node)
                if index == 4:
                    time.sleep(random.uniform(3.0, 6.0))
                    gated.controller.start(gated.cluster)
            gated.until_free("gpu-01", *late, seconds=150)
            time.sleep(4.0)  # let jobs run on all of them
        records = user_jobs(gated.cluster.client)
        assert stream.submitted / stream.seconds >= 5.0
        assert {node for record in records for node in record.nodes} == {"gpu-01", *late}
        assert started_too_early(gated.store, records) == []


def test_the_records_would_show_an_early_start(lab_dir):
    """The same look at the records finds jobs on nodes nobody admitted: without a gate."""
    from greenroom.lab.cluster import Cluster
    from greenroom.store import open_store

    with Cluster(lab_dir / "open", nodes=["gpu-01"], born_held=False, prolog=False) as cluster:
        job = cluster.submit_user_job(run_s=0.1)
        assert wait_for(lambda: user_jobs(cluster.client), 10)
        early = started_too_early(open_store("memory:"), user_jobs(cluster.client))
        assert [line for line in early if line.startswith(f"job {job} ")]


def test_the_prolog_alone_keeps_jobs_off_a_node_that_was_opened_by_mistake(lab_dir):
    """Fail closed: no controller, node resumed by somebody: the job is refused and the node drained."""
    with Gated(lab_dir / "closed", nodes=["gpu-01", "gpu-02"], check="exec sleep 60") as gated:
        gated.controller.stop(gated.cluster)
        reading = gated.cluster.client.read()
        lines = [f"delete reservationname={name}" for name in reading.reservations]
        jobs = [f"scancel {job.id}" for job in reading.jobs]
        for line in jobs:
            gated.cluster.client.run("scancel", line.split()[1])
        time.sleep(3)
        gated.cluster.client.batch([*lines, "update nodename=gpu-01 state=resume"])
        gated.cluster.wait_for("gpu-01", "IDLE", without=("DRAIN", "NOT_RESPONDING"))
        job = gated.cluster.submit_user_job(node="gpu-01", run_s=0.1)
        gated.cluster.wait_for("gpu-01", "DRAIN")
        assert gated.cluster.node("gpu-01").reason.startswith("Prolog error")
        assert gated.job(job)[0] == "PENDING"


ADMIN = "bob: fan noise, do not touch"
# By node: what the check does once an admin has drained the node under it.
BEHAVIOUR = """
case "$SLURMD_NODENAME" in
  gpu-03) exec sleep 600 ;;
  gpu-04) sleep 12; exit 1 ;;
  *) sleep 12 ;;
esac
"""


def test_a_drain_of_an_admin_is_never_undone(lab_dir):
    """Pass, fail, timeout, error, restart: in every path the admin's drain and words stay."""
    nodes = [f"gpu-{i:02d}" for i in range(1, 6)]
    gate = "run_grace_s = 1.0\nundecided_tries = 1\n"
    with Gated(
        lab_dir / "admin", nodes=nodes, faults={"gpu-02": ["missing"]}, check=BEHAVIOUR, gate=gate
    ) as gated:
        gated.until(
            lambda: all((state := gated.store.load(node)) and state.run_id for node in nodes), seconds=60
        )
        gated.until(
            lambda: len([job for job in gated.cluster.client.read().jobs if job.state == "RUNNING"]) == 5
        )
        for node in nodes:
            gated.drain_as_admin(node, ADMIN)
        gated.until(lambda: gated.store.load("gpu-05").standing == "foreign", seconds=20)
        gated.controller.stop(gated.cluster, kill=True)
        time.sleep(1)
        gated.controller.start(gated.cluster)
        gated.until_phase(Phase.IN_SERVICE, "gpu-01", "gpu-05")
        gated.until_phase(Phase.RECOVERING, "gpu-02")
        gated.until_phase(Phase.WITH_PERSON, "gpu-03", "gpu-04", seconds=120)
        time.sleep(3)
        for node in nodes:
            shown = gated.cluster.node(node)
            assert "DRAIN" in shown.flags, node
            assert shown.reason == ADMIN, node
        assert ADMIN in gated.store.load("gpu-01").note
        # When the admin is done, a fit node serves and an unfit one is treated.
        assert gated.cluster.client.batch([f"update nodename={node} state=resume" for node in nodes]) == []
        gated.until_free("gpu-01", "gpu-05")


def test_a_busy_node_is_not_interrupted_by_a_check(lab_dir):
    with Gated(lab_dir / "busy", nodes=["gpu-01", "gpu-02"]) as gated:
        gated.until_free("gpu-01", "gpu-02")
        job = gated.cluster.submit_user_job(node="gpu-01", gpus=1, run_s=8.0)
        gated.until(lambda: gated.job(job)[0] == "RUNNING")
        runs = len(gated.store.runs("gpu-01"))
        gated.cli("check-nodes", "-w", "gpu-01", "--profile", "quick", "--reason", "driver update")
        gated.until_phase(Phase.HELD, "gpu-01")
        gated.cluster.wait_for("gpu-01", "DRAIN")
        assert gated.job(job) == ("RUNNING", 0)
        waiting = gated.cluster.submit_user_job(node="gpu-01", gpus=1, run_s=0.1)
        gated.until(lambda: gated.job(job)[0] == "COMPLETED", seconds=30)
        assert gated.job(waiting)[0] == "PENDING"
        gated.until(lambda: len(gated.store.runs("gpu-01")) == runs + 1)
        gated.until_free("gpu-01")
        gated.until(lambda: gated.job(waiting) == ("COMPLETED", 0), seconds=30)


def test_a_check_is_skipped_when_the_node_stays_busy(lab_dir):
    with Gated(lab_dir / "skip", nodes=["gpu-01"]) as gated:
        gated.until_free("gpu-01")
        job = gated.cluster.submit_user_job(node="gpu-01", run_s=60)
        gated.until(lambda: gated.job(job)[0] == "RUNNING")
        gated.cli("check-nodes", "-w", "gpu-01", "--profile", "quick", "--max-wait", "4s")
        gated.until_phase(Phase.HELD, "gpu-01")
        gated.until_free("gpu-01")
        assert gated.job(job) == ("RUNNING", 0)
        assert "skipped" in gated.store.load("gpu-01").reason


@pytest.mark.parametrize("policy", ["finish", "requeue"])
def test_a_node_failing_in_service_is_drained_and_its_job_ends_as_the_policy_says(lab_dir, policy):
    gate = f'on_fail_in_service = "{policy}"\n'
    with Gated(lab_dir / policy, nodes=["gpu-01", "gpu-02"], gate=gate) as gated:
        gated.until_free("gpu-01", "gpu-02")
        job = gated.cluster.submit_user_job(node="gpu-01", gpus=1, run_s=10.0)
        gated.until(lambda: gated.job(job)[0] == "RUNNING")
        found = gated.found_in_service("gpu-01", "ecc")
        assert found.returncode == 1, found.stderr
        gated.until_phase(Phase.RECOVERING, "gpu-01", seconds=30)
        gated.cluster.wait_for("gpu-01", "DRAIN")
        if policy == "finish":
            assert gated.job(job) == ("RUNNING", 0)
            gated.until(lambda: gated.job(job)[0] == "COMPLETED", seconds=30)
            assert gated.job(job) == ("COMPLETED", 0)
        else:
            gated.until(lambda: gated.job(job)[1] == 1, seconds=30)
        gated.until_free("gpu-01", seconds=120)  # rebooted, still bad, replaced
        assert [one.rung.value for one in gated.store.load("gpu-01").attempts] == ["reboot", "replace"]
        assert gated.store.load("gpu-02").attempts == ()


def test_most_of_the_fleet_failing_at_once_does_not_take_it_out(lab_dir):
    nodes = [f"gpu-{i:02d}" for i in range(1, 11)]
    with Gated(lab_dir / "fleet", nodes=nodes) as gated:
        gated.until_free(*nodes, seconds=150)
        bad = nodes[:6]
        for node in bad:
            assert gated.found_in_service(node, "missing").returncode == 1
        assert gated.store.load(bad[0]).verdict is Verdict.UNFIT
        least = 10
        deadline = time.monotonic() + 25
        while time.monotonic() < deadline:
            reading = gated.cluster.client.read()
            least = min(least, sum(not reading.nodes[node].drained for node in nodes))
            time.sleep(0.5)
        assert least == 9  # one is out, the limit of ten nodes
        assert [alert.key for alert in gated.store.alerts() if alert.key == "fleet-limit"] == ["fleet-limit"]
        job = gated.cluster.submit_user_job(node="gpu-10", gpus=1, run_s=0.1)
        gated.until(lambda: gated.job(job)[0] == "COMPLETED", seconds=30)


def test_an_admins_action_reboot_is_honoured(lab_dir):
    with Gated(lab_dir / "action", nodes=["gpu-01", "gpu-02"]) as gated:
        gated.until_free("gpu-01", "gpu-02")
        gated.drain_as_admin("gpu-01", " action : Reboot")
        gated.drain_as_admin("gpu-02", "Action:Rebot")
        gated.until(lambda: len(gated.store.runs("gpu-01")) == 2, seconds=60)
        gated.until_free("gpu-01")
        assert [one.rung.value for one in gated.store.load("gpu-01").attempts] == ["reboot"]
        alerts = [alert.text for alert in gated.store.alerts(open_only=True)]
        assert len(alerts) == 1
        assert "Action:Rebot" in alerts[0]
        assert gated.cluster.node("gpu-02").reason == "Action:Rebot"


def test_a_node_that_does_not_come_back_from_its_reboot_is_replaced(lab_dir):
    """Slurm gives the reboot up and marks it DOWN; at our deadline the next rung is taken."""
    with Gated(lab_dir / "down", nodes=["gpu-01", "gpu-02"], faults={"gpu-01": ["ecc"]}) as gated:
        gated.cluster.stays_down.add("gpu-01")
        gated.until_free("gpu-02")
        gated.until(lambda: gated.cluster.done, seconds=60)
        gated.until_free("gpu-01", seconds=180)
        assert gated.cluster.done == [("reboot", "gpu-01"), ("replace", "gpu-01")]
        reasons = [entry.reason for entry in gated.store.timeline("gpu-01")]
        assert any("reboot failed: not over within its deadline" in reason for reason in reasons)
