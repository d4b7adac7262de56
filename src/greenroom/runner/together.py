"""Runs a user's command on a set of nodes, and says how it ended: the runs that a bisection asks for."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from uuid import uuid4

from greenroom.model.words import Outcome
from greenroom.probes.host import LocalHost, ProbeUnavailable
from greenroom.runner.bisect import Bisection, Nodes, Undecided
from greenroom.runner.fabric import WAYS, Way

GRACE_S = 10.0
"""A command that is told to end at its deadline has this long before it is killed."""
NOT_THERE = {126: "cannot be executed", 127: "is not there"}
"""Exit codes of env(1) and shells for a command that did not start."""
SSH_FAILED = 255
FAR = ("slurm", "ssh")
"""Ways on which the command is no child of ours."""
LATE = {124, 137}
"""Exit codes of timeout(1): the deadline came; it had to be killed."""
SRUN_UNABLE = ("Unable to create step", "Unable to allocate", "Invalid node name", "error: Unable to confirm")
"""srun did not start the step: that says nothing of the command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is run on every set."""

    words: tuple[str, ...]
    """``{nodes}``, ``{first}`` and ``{count}`` are replaced."""
    reservation: str = ""
    """Of Slurm."""
    via: str
    """``slurm``: one step of srun with a task a node; ``ssh``, ``netns``: a process a node; ``local``: one
    process here, which reaches the nodes itself (mpirun, sbatch --wait)."""
    deadline_s: float
    repeat: int = 1
    """Runs of a set that must all pass, for a fault that does not show each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How the command ended on one set."""

    nodes: Nodes
    outcome: Outcome
    seconds: float
    why: str = ""


Told = Callable[[End], None]


class _Spent(Exception):
    """No more runs, or no more time."""


def bisect(
    search: Bisection,
    job: Job,
    *,
    max_runs: int,
    time_limit_s: float,
    told: Told = lambda _: None,
    stop: Event,
) -> str:
    """Drive the search to its end; empty, or why it ended before.

    ``told`` hears of each run as it ends. ``stop`` is set in the end, whatever comes between.
    """
    started, runs = time.monotonic(), 0
    asking = search.ask()

    def one(nodes: Nodes) -> End:
        return run_on(nodes, job, stop)

    try:
        sets = next(asking)
        with ThreadPoolExecutor(64) as pool:
            try:
                while True:
                    if runs + len(sets) > max_runs:
                        raise _Spent(f"{runs} runs are done, of {max_runs} at most")
                    if time.monotonic() - started > time_limit_s:
                        raise _Spent(f"the time limit of {time_limit_s:g} s is over")
                    runs += len(sets)
                    ends = []
                    for end in pool.map(one, sets):
                        told(end)
                        ends.append(end.outcome)
                    sets = asking.send(ends)
            finally:
                stop.set()  # before the pool waits for its threads
    except StopIteration:
        return ""
    except (Undecided, _Spent) as error:
        return str(error)


def run_on(nodes: Nodes, job: Job, stop: Event) -> End:
    """Run it on these nodes, as often as is asked, or until it fails."""
    started = time.monotonic()
    for _ in range(job.repeat):
        outcome, why = _once(nodes, job, stop)
        if outcome is not Outcome.PASS:
            break
    return End(nodes=nodes, outcome=outcome, why=why, seconds=round(time.monotonic() - started, 2))


def _once(nodes: Nodes, job: Job, stop: Event) -> tuple[Outcome, str]:
    told = {"nodes": ",".join(nodes), "first": nodes[0], "count": str(len(nodes))}
    run = _Run(job, told)
    if job.via == "local":
        return run.wait(run.words(), stop)
    if job.via == "slurm":
        step = [*run.way.prefix[:-4], "--kill-on-bad-exit=1", "--ntasks-per-node=1"]
        return run.wait(
            [*step, f"-N{len(nodes)}", f"-n{len(nodes)}", "-w", told["nodes"], *run.words()], stop, nodes
        )
    return _each(nodes, run, stop)


def _each(nodes: Nodes, run: _Run, stop: Event) -> tuple[Outcome, str]:
    """A process a node. Once one fails the others are ended: they may wait for it until the deadline."""
    enough = Event()
    ends: dict[str, tuple[Outcome, str]] = {}

    def one(rank: int, node: str) -> None:
        argv = run.way.argv(node, run.words(rank=rank))
        outcome, why = run.wait(argv, _Either(stop, enough), (node,))
        if not enough.is_set():
            ends[node] = outcome, why
        if outcome is not Outcome.PASS:
            enough.set()

    with ThreadPoolExecutor(len(nodes)) as pool:
        list(pool.map(one, range(len(nodes)), nodes))
    # Who failed says more than who could not be started after it.
    for wanted in (Outcome.FAIL, Outcome.UNABLE):
        for node, (outcome, why) in ends.items():
            if outcome is wanted:
                return outcome, f"{node}: {why}"
    return Outcome.PASS, ""


class _Either(Event):
    """Set as soon as one of two is."""

    def __init__(self, one: Event, other: Event) -> None:
        super().__init__()
        self._both = (one, other)

    def is_set(self) -> bool:
        return any(event.is_set() for event in self._both)


class _Run:
    """One run of the command."""

    def __init__(self, job: Job, told: Mapping[str, str]) -> None:
        self._job, self._told = job, told
        self._mark = f"GREENROOM_RUN={uuid4().hex}"
        self.way = WAYS.get(job.via, Way(prefix=()))
        if job.reservation:
            self.way = self.way.with_words(f"--reservation={job.reservation}")
        self._far = job.via in FAR

    def words(self, *, rank: int = -1) -> list[str]:
        """Its command line on a node; where killing what we started does not end it, with its deadline."""
        words = list(self._job.words)
        for name, value in self._told.items():
            words = [word.replace(f"{{{name}}}", value) for word in words]
        about = [self._mark, *(f"GREENROOM_{name.upper()}={value}" for name, value in self._told.items())]
        about += [f"GREENROOM_RANK={rank}"] if rank >= 0 else []
        timeout = ["timeout", "-k", f"{GRACE_S:g}", f"{self._job.deadline_s:g}"] if self._far else []
        return [*timeout, "env", *about, *words]

    def wait(self, argv: Sequence[str], stop: Event, nodes: Nodes = ()) -> tuple[Outcome, str]:
        """Run it to its end, and say what that means."""
        deadline_s = self._job.deadline_s
        try:
            ran = LocalHost(stop).run(argv, timeout_s=deadline_s + (2 * GRACE_S if self._far else 0))
        except ProbeUnavailable as error:
            self._end(nodes)
            late = "not back" in str(error)
            return (Outcome.FAIL, f"hung: {error}") if late else (Outcome.UNABLE, str(error))
        last = (ran.stderr.strip() or ran.stdout.strip()).splitlines()[-1:]
        said = f": {last[0]:.160}" if last else ""
        if ran.rc == 0:
            return Outcome.PASS, ""
        if self._far and ran.rc in LATE:
            return Outcome.FAIL, f"hung: not back after {deadline_s:g} s{said}"
        if ran.rc in NOT_THERE:
            return Outcome.UNABLE, f"the command {NOT_THERE[ran.rc]}{said}"
        if (argv[0] == "ssh" and ran.rc == SSH_FAILED) or any(text in ran.stderr for text in SRUN_UNABLE):
            return Outcome.UNABLE, f"{argv[0]} did not start it{said}"
        return Outcome.FAIL, f"exit {ran.rc}{said}"

    def _end(self, nodes: Nodes) -> None:
        """What ssh or srun started does not end with them: timeout(1) is told to end it."""
        if not self._far:
            return
        # The brackets: so that the shell which starts pkill is not meant.
        words = ["pkill", "-TERM", "-f", f"[{self._mark[0]}]{self._mark[1:]}"]
        for node in nodes:
            with contextlib.suppress(ProbeUnavailable):  # it ends at its deadline then
                LocalHost().run(self.way.argv(node, words), timeout_s=GRACE_S)
