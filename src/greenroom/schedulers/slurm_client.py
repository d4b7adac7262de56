"""Slurm's commands with a clean environment and a deadline each; one reading of everything."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from greenroom.parsers import slurm_json, slurm_text
from greenroom.parsers.slurm_nodes import BORN_HELD, Reading, SlurmUnreadable
from greenroom.probes.host import ProbeUnavailable, Ran, run_command
from greenroom.schedulers import SchedulerUnavailable

JSON_SINCE = (23, 2, 0)
"""First version whose scontrol prints JSON."""
# All states in which a job holds resources of a node (squeue(1), JOB STATE CODES).
HOLDING = "CF,CG,R,RS,SI,SO,ST,S"
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LINES_PER_CALL = 500
"""Updates given to one scontrol: about a millisecond each, far inside the deadline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmSettings:
    """``[scheduler.slurm]``."""

    conf: str = ""
    """SLURM_CONF; empty: Slurm's own default."""
    bin_dir: str = ""
    """Where the commands are; empty: on PATH."""
    command_timeout_s: float = 15.0
    """One command. A client takes 10 s to notice that slurmctld is away."""
    born_held_reason: str = BORN_HELD
    """The Reason with which slurm.conf has new nodes drained."""


class SlurmClient:
    """Runs the commands."""

    def __init__(self, settings: SlurmSettings) -> None:
        """Starts nothing yet."""
        self.settings = settings
        self._version: tuple[int, int, int] | None = None

    def run(self, tool: str, *args: str, stdin: str = "") -> Ran:
        """Run one command to its end, whatever its exit code.

        The environment is made here: SLURM_*, SQUEUE_* or TZ of whoever started us change what the
        commands print, and sbatch would hand ours to the job.

        Raises:
            SchedulerUnavailable: not installed, or not back in time.
        """
        path = os.environ.get("PATH", SYSTEM_PATH)
        clean = [f"PATH={path}", "LC_ALL=C.UTF-8"]
        if self.settings.conf:
            clean.append(f"SLURM_CONF={self.settings.conf}")
        if tool != "sbatch":
            clean += ["TZ=UTC", "SLURM_TIME_FORMAT=standard"]
        program = os.path.join(self.settings.bin_dir, tool) if self.settings.bin_dir else tool  # noqa: PTH118
        argv = ["env", "-i", *clean, program, *args]
        try:
            ran = run_command(argv, timeout_s=self.settings.command_timeout_s, stdin=stdin)
        except ProbeUnavailable as error:
            raise SchedulerUnavailable(str(error).replace("env:", f"{tool}:", 1)) from error
        if ran.rc in (126, 127):  # env(1): the command cannot be run, is not there
            raise SchedulerUnavailable(f"{tool}: {said(ran)}")
        return ran

    def ask(self, tool: str, *args: str, stdin: str = "") -> str:
        """Standard output of a command that must succeed."""
        ran = self.run(tool, *args, stdin=stdin)
        if ran.rc != 0:
            raise SchedulerUnavailable(f"{tool} {' '.join(args)}: exit code {ran.rc}: {said(ran)}")
        return ran.stdout

    def batch(self, lines: Sequence[str]) -> list[str]:
        """Commands for scontrol, one process for many; what it complained of, each once.

        Some failing is normal and stops none of the others: the next reading tells which.
        """
        complaints: dict[str, None] = {}
        for start in range(0, len(lines), LINES_PER_CALL):
            text = "".join(f"{line}\n" for line in lines[start : start + LINES_PER_CALL])
            ran = self.run("scontrol", "-Q", stdin=text)
            complaints |= dict.fromkeys(line.strip() for line in ran.stderr.splitlines() if line.strip())
        return list(complaints)

    def read(self) -> Reading:
        """Everything, in an order in which a job or reservation that comes in between does no harm.

        Reservations first, jobs last: a node seen drained or reserved gets no new job of others
        afterwards, so the list of its jobs can only be too long.
        """
        try:
            reservations = slurm_text.parse_reservations(
                self.ask("scontrol", "--all", "show", "reservation", "-o")
            )
            if self.version() >= JSON_SINCE:
                nodes = slurm_json.parse_nodes(self.ask("scontrol", "--all", "show", "nodes", "--json"))
            else:
                nodes = slurm_text.parse_nodes(self.ask("scontrol", "--all", "show", "node", "-o"))
            jobs = slurm_text.parse_jobs(
                self.ask("squeue", "-h", "-a", "-t", HOLDING, "-o", slurm_text.JOB_FORMAT)
            )
        except SlurmUnreadable as error:
            self._version = None  # perhaps Slurm was upgraded under us
            raise SchedulerUnavailable(str(error)) from error
        except SchedulerUnavailable:
            self._version = None
            raise
        return Reading(
            nodes={node.name: node for node in nodes},
            reservations={one.name: one for one in reservations},
            jobs=jobs,
        )

    def version(self) -> tuple[int, int, int]:
        """Of the installed commands; asked once, and anew after a failure."""
        if self._version is None:
            self._version = slurm_text.parse_version(self.ask("scontrol", "--version"))
        return self._version


def said(ran: Ran) -> str:
    """The first words of a command that failed."""
    lines = [line.strip() for line in (ran.stderr or ran.stdout).splitlines() if line.strip()]
    return (lines or ["no message"])[0][:300]
