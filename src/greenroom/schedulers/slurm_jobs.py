"""Jobs and reboots: our checks as batch jobs, jobs of others requeued, plain reboots."""

from __future__ import annotations

import math
import os
import re
import shlex

from greenroom.model.nodes import CheckJob, NodeView
from greenroom.model.words import Standing
from greenroom.parsers.slurm_nodes import CHECK_PREFIX, PREFIX, Reading
from greenroom.schedulers import SchedulerUnavailable
from greenroom.schedulers.slurm_client import SYSTEM_PATH, SlurmClient, said

_RUN_ID = re.compile(r"[A-Za-z0-9_.-]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def launch(client: SlurmClient, job: CheckJob) -> str:
    """See schedulers.Scheduler.launch."""
    name = _job_name(job.run_id)
    started = _find(client, name)
    if started:
        return started
    reading = client.read()
    view, node = _view(client, reading, job.node), reading.nodes[job.node]
    if node.drained or not reading.reserved(job.node):
        raise SchedulerUnavailable(f"{job.node} is not quarantined: {view.note}")
    if not node.partitions:
        raise SchedulerUnavailable(f"{job.node} is in no partition: no job can start on it")
    args = [
        "--parsable",
        f"--job-name={name}",
        f"--reservation={PREFIX}{job.node}",
        f"--nodelist={job.node}",
        f"--partition={','.join(node.partitions)}",
        "--nodes=1",
        "--exclusive",
        "--mem=0",
        "--no-requeue",
        # Slurm looks only at the head of a long queue: a check must not wait behind it.
        "--priority=TOP",
        "--chdir=/",
        "--output=/dev/null",
        f"--time={max(1, math.ceil(job.timeout_s / 60))}",
        # All of our environment, which the client made empty: NONE and NIL make Slurm run a login shell
        # of the user first, seconds long and with whatever profile files do.
        "--export=ALL",
    ]
    if view.gpus:
        args.append(f"--gres=gpu:{view.gpus}")
    answer = client.ask("sbatch", *args, stdin=script(job)).strip()
    found = re.fullmatch(r"(\d+)(;.*)?", answer.splitlines()[-1] if answer else "")
    if found is None:
        raise SchedulerUnavailable(f"sbatch: expected a job id, got {answer[:80]!r}")
    return found[1]


def script(job: CheckJob) -> str:
    """The batch script. The environment stands in it and not in the arguments, which anybody can see."""
    lines = ["#!/bin/sh"]
    for key, value in (("PATH", SYSTEM_PATH), *job.env):
        if not _VARIABLE.fullmatch(key):
            raise ValueError(f"{key!r} is not the name of an environment variable")
        lines.append(f"export {key}={shlex.quote(value)}")
    lines.append(f"exec {shlex.join(job.argv)}")
    return "\n".join([*lines, ""])


def cancel(client: SlurmClient, run_id: str) -> None:
    """See schedulers.Scheduler.cancel."""
    client.ask("scancel", f"--user={os.geteuid()}", f"--name={_job_name(run_id)}")


def reboot(client: SlurmClient, node: str, reason: str) -> None:
    """See schedulers.Scheduler.reboot. A reboot already under way is left to it.

    Plain ``scontrol reboot``: with ASAP some versions drop the drain, with nextstate all do. No
    reason is given either: it would take the place of ours, by which the drain is known again.
    """
    reading = client.read()
    view, before = _view(client, reading, node), reading.nodes[node]
    if before.flags & {"REBOOT_REQUESTED", "REBOOT_ISSUED"}:
        return
    if view.standing is not Standing.HELD or "DRAIN" not in before.flags:
        raise SchedulerUnavailable(f"{node} is not rebooted ({reason}): not held by us: {view.note}")
    if view.jobs or view.our_jobs:
        raise SchedulerUnavailable(f"{node} is not rebooted ({reason}): jobs are on it")
    client.ask("scontrol", "reboot", node)
    after = client.read().nodes.get(node)
    if after is None or (after.reason != before.reason and not after.reason.startswith(before.reason)):
        raise SchedulerUnavailable(f"{node}: reboot asked for, but the drain reason was changed by somebody")


def requeue_jobs(client: SlurmClient, node: str) -> list[str]:
    """See schedulers.Scheduler.requeue_jobs. Those that cannot be requeued go on running."""
    view = _view(client, client.read(), node)
    return [job for job in view.jobs if client.run("scontrol", "requeue", job).rc == 0]


def _find(client: SlurmClient, name: str) -> str:
    """The job of this name, also one that has just ended (Slurm keeps those for MinJobAge); empty: none."""
    # Of our own user only: a job of that name can be started by anybody.
    ran = client.run(
        "squeue", "-h", "-a", "-t", "all", f"--user={os.geteuid()}", f"--name={name}", "-o", "%i"
    )
    if ran.rc != 0:
        raise SchedulerUnavailable(f"squeue: exit code {ran.rc}: {said(ran)}")
    return (ran.stdout.split() or [""])[0]


def _job_name(run_id: str) -> str:
    if not _RUN_ID.fullmatch(run_id):
        raise ValueError(f"run id {run_id!r}: expected letters, digits, '_', '.', '-'")
    return f"{CHECK_PREFIX}{run_id}"


def _view(client: SlurmClient, reading: Reading, node: str) -> NodeView:
    view = reading.view(node, owned="", born_held=client.settings.born_held_reason)
    if view is None:
        raise SchedulerUnavailable(f"{node}: Slurm has no such node")
    return view
