"""The made-up machines: what unmodified programs see on them, and the shipped prolog on a real Slurm."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from greenroom.lab.cluster import Cluster
from greenroom.lab.processes import end_recorded, started_at, wait_for
from greenroom.model.admission import sign
from greenroom.model.words import Rung
from greenroom.recovery import Progress
from greenroom.recovery.command import CommandProvider

SHIPPED = Path(__file__).parents[3] / "deploy/slurm/prolog"
KEY = b"k" * 32


@pytest.fixture(scope="module")
def lab(lab_dir):
    nodes = ["gpu-01", "gpu-02", "gpu-03"]
    with Cluster(lab_dir / "lab", nodes=nodes, late=["gpu-04"], faults={"gpu-02": ["ecc"]}) as lab:
        # The shipped prolog in place of the lab's shorter one.
        (lab.dir / "bin/prolog").write_text(
            "#!/bin/sh\n"
            f"export GREENROOM_BIN={lab.dir}/bin/greenroom GREENROOM_SETTINGS=/nowhere\n"
            f"exec {SHIPPED}\n"
        )
        lab.key_file.write_bytes(KEY)
        yield lab


def inside(lab, node, *argv):
    """Run a command on the made-up machine."""
    pid = lab.processes.pid(f"slurmd-{node}")
    return subprocess.run(
        ["nsenter", "-t", str(pid), "-m", *argv],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
        env={**os.environ, "SLURMD_NODENAME": node},
    ).stdout


def boot_id(lab, node):
    return inside(lab, node, "cat", "/proc/sys/kernel/random/boot_id").strip()


def test_each_machine_has_an_identity_of_its_own(lab):
    ids = {boot_id(lab, node) for node in ("gpu-01", "gpu-02")} | {
        Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    }
    machines = {inside(lab, node, "cat", "/etc/machine-id") for node in ("gpu-01", "gpu-02")}
    assert len(ids) == 3
    assert len(machines) == 2
    lab.nodes["gpu-01"].log("NVRM: Xid (PCI:0000:1a:00): 79")
    assert "Xid" in inside(lab, "gpu-01", "cat", "/dev/kmsg")
    assert "Xid" not in inside(lab, "gpu-02", "cat", "/dev/kmsg")


def test_a_reboot_is_another_boot_of_the_same_machine(lab):
    boot, machine = boot_id(lab, "gpu-01"), inside(lab, "gpu-01", "cat", "/etc/machine-id")
    lab.reboot("gpu-01")
    assert boot_id(lab, "gpu-01") != boot
    assert inside(lab, "gpu-01", "cat", "/etc/machine-id") == machine
    assert "Xid" not in inside(lab, "gpu-01", "cat", "/dev/kmsg")


def test_a_replacement_is_another_machine_without_the_fault(lab):
    machine, state = inside(lab, "gpu-02", "cat", "/etc/machine-id"), lab.nodes["gpu-02"].place / "gpus.state"
    assert "ecc.volatile.uncorrected=3" in state.read_text()
    provider = CommandProvider([str(lab.dir / "bin/replace")], rung=Rung.REPLACE, timeout_s=30)
    ask = {"action_id": "gpu-02-7-replace", "node": "gpu-02", "rung": Rung.REPLACE}
    assert provider.poll(**ask).progress is Progress.FAILED
    assert provider.start(**ask, reason="x").progress is Progress.RUNNING
    assert wait_for(lambda: provider.poll(**ask).progress is Progress.DONE, 20)
    assert inside(lab, "gpu-02", "cat", "/etc/machine-id") != machine
    assert "ecc.volatile.uncorrected=3" not in state.read_text()
    boot = boot_id(lab, "gpu-02")
    assert provider.start(**ask, reason="x").progress is Progress.DONE  # once per action id
    assert boot_id(lab, "gpu-02") == boot
    absent = {"action_id": "a", "node": "gpu-99", "rung": Rung.REPLACE}
    assert provider.start(**absent, reason="x").progress is Progress.REFUSED


def test_a_late_node_arrives_born_held(lab):
    assert "UNKNOWN" in lab.node("gpu-04").flags
    lab.add("gpu-04")
    assert lab.node("gpu-04").flags == {"IDLE", "DRAIN"}
    assert lab.node("gpu-04").reason == "greenroom: born held"


def test_the_prolog_lets_a_job_start_only_on_an_admitted_boot(lab):
    node = "gpu-03"
    assert lab.client.batch([f"update nodename={node} state=resume"]) == []
    lab.wait_for(node, "IDLE", without=("NOT_RESPONDING", "DRAIN"))
    job = lab.submit_user_job(node=node, run_s=0)
    refused = lab.wait_for(node, "DRAIN", seconds=20)
    assert refused.reason == "Prolog error"
    # requeued, not held: nohold_on_prolog_fail
    show = lambda: lab.client.ask("scontrol", "show", "job", "-o", job)  # noqa: E731
    assert wait_for(lambda: "JobState=PENDING" in show(), 10), show()
    assert "launch_failed_requeued_held" not in show()

    record = sign(KEY, node=node, boot_id=boot_id(lab, node), hardware="h", run_id="r", issued_at=1.0)
    (lab.nodes[node].place / "state/admission.json").write_text(json.dumps(record))
    assert lab.client.batch([f"update nodename={node} state=resume"]) == []
    assert wait_for(lambda: "JobState=COMPLETED" in show(), 30), show()
    assert "DRAIN" not in lab.node(node).flags


def test_our_own_check_passes_the_prolog(lab):
    node = "gpu-01"  # nobody admitted it
    reservation = f"ReservationName=greenroom-{node} Users=root Flags=MAINT,IGNORE_JOBS Nodes={node}"
    lines = [f"create reservation {reservation} StartTime=now Duration=UNLIMITED"]
    assert lab.client.batch([*lines, f"update nodename={node} state=resume"]) == []
    lab.wait_for(node, "IDLE", without=("NOT_RESPONDING", "DRAIN"))
    job = lab.client.ask(
        "sbatch", "--parsable", f"--reservation=greenroom-{node}", f"--nodelist={node}", "--output=/dev/null",
        "--chdir=/", stdin="#!/bin/sh\ntrue\n",
    ).strip()  # fmt: skip
    show = lambda: lab.client.ask("scontrol", "show", "job", "-o", job)  # noqa: E731
    assert wait_for(lambda: "JobState=COMPLETED" in show(), 15), show()
    assert "DRAIN" not in lab.node(node).flags


def test_only_recorded_processes_are_ended(tmp_path):
    ours = subprocess.Popen(["sleep", "60"], start_new_session=True)
    other = subprocess.Popen(["sleep", "60"], start_new_session=True)
    record = tmp_path / "pids.json"
    # the second pid was recorded for a process that is gone: the number is somebody else's now
    record.write_text(
        json.dumps({"a": [ours.pid, started_at(ours.pid)], "b": [other.pid, started_at(other.pid) - 1]})
    )
    assert end_recorded(record) == ["a"]
    assert ours.wait(5) == -15
    assert other.poll() is None
    other.kill()
    other.wait(5)
    assert end_recorded(record) == []
