"""The main job, played on a real Slurm: `make run`. Exits 0 only if the story came out right."""

from __future__ import annotations

import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from greenroom.lab.cluster import Cluster
from greenroom.lab.control import Controller
from greenroom.lab.records import JobRecord, started_too_early, user_jobs
from greenroom.model.words import Phase, Rung
from greenroom.policy.state import NodeState
from greenroom.schedulers import SchedulerUnavailable
from greenroom.store import Entry, Store

FIRST = ("gpu-01", "gpu-02", "gpu-03", "gpu-04")
LATE = ("gpu-05", "gpu-06", "gpu-07")
FAULTS = {"gpu-06": ["ecc"], "gpu-07": ["missing"]}
EXPECTED = {**dict.fromkeys((*FIRST, *LATE), Phase.IN_SERVICE), "gpu-07": Phase.WITH_PERSON}
LIMIT_S = 210.0
JOB_EVERY_S = 0.5
ARRIVE_EVERY_S = 4.0
COLOUR = {
    Phase.IN_SERVICE: "green",
    Phase.RECOVERING: "yellow",
    Phase.WITH_PERSON: "red",
    Phase.CHECKING: "cyan",
}


class Telling:
    """Prints what happens, as it happens, from the store's history."""

    def __init__(self, store: Store, console: Console, started: float) -> None:
        """``started``: Unix s, where the story's clock begins."""
        self._store, self._console, self._started = store, console, started
        self._told: dict[str, int] = {}

    def say(self, text: str) -> None:
        """One line with the story's time."""
        self._console.print(f"{_clock(self._started)}  {text}")

    def catch_up(self) -> None:
        """Print the phase changes since the last call."""
        for entry in sorted(self._fresh(), key=lambda one: one.at):
            if entry.phase_before is entry.phase_after:
                continue
            colour = COLOUR.get(entry.phase_after, "white")
            when = f"[dim]{entry.at - self._started:6.1f} s[/]"
            change = f"{entry.phase_before.value} -> [{colour}]{entry.phase_after.value}[/]"
            self._console.print(f"{when}  [bold]{entry.node}[/] {change}: {entry.reason}")

    def _fresh(self) -> Iterator[Entry]:
        for state in self._store.states():
            told = self._told.get(state.node, 0)
            if state.seq > told:
                yield from (entry for entry in self._store.timeline(state.node) if entry.seq > told)
                self._told[state.node] = state.seq


def _clock(started: float) -> str:
    return f"[dim]{time.time() - started:6.1f} s[/]"


class Jobs:
    """A stream of user jobs: each takes a GPU for two seconds."""

    def __init__(self, cluster: Cluster) -> None:
        """Starts with ``start``."""
        self._cluster, self._stop = cluster, threading.Event()
        self._thread = threading.Thread(target=self._submit, name="jobs")
        self.submitted = 0

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """No more; harmless if it never began."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _submit(self) -> None:
        while not self._stop.wait(JOB_EVERY_S):
            try:
                self._cluster.submit_user_job(gpus=1, run_s=2.0)
                self.submitted += 1
            except SchedulerUnavailable:
                continue


def play(folder: Path | None = None) -> int:
    """The whole story; 0 if it came out right."""
    console = Console(width=None if Console().is_terminal else 160, highlight=False)
    if folder is not None:
        return _play(folder, console)
    with tempfile.TemporaryDirectory(prefix="greenroom-") as made:
        return _play(Path(made), console)


def _play(folder: Path, console: Console) -> int:
    started = time.time()
    controller = Controller(folder, minimum=4)
    cluster = Cluster(folder, nodes=FIRST, late=LATE, faults=FAULTS, controller_url=controller.url)
    console.print(
        "[bold]Greenroom on a real Slurm[/]: 4 nodes arrive, 3 more join late, user jobs never stop"
    )
    jobs = Jobs(cluster)
    try:
        with console.status("starting munge, slurmctld and 4 slurmd"):
            cluster.start()
        console.print(f"{_clock(started)}  4 nodes have registered, born held; user jobs begin to queue")
        jobs.start()
        controller.start(cluster)
        store = controller.store()
        telling = Telling(store, console, started)
        in_time = _until_settled(cluster, store, telling)
        telling.catch_up()  # the last changes came after the last look
        records = user_jobs(cluster.client)
        jobs.stop()
        result = _judge(console, store, jobs, records, in_time=in_time, took=time.time() - started)
        store.close()
        return result
    finally:
        jobs.stop()
        cluster.stop()


def _until_settled(cluster: Cluster, store: Store, telling: Telling) -> bool:
    """Let the late nodes arrive once the first serve; True when all are where they should be."""
    waiting, next_at, said = list(LATE), 0.0, False
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        telling.catch_up()
        phases = {state.node: state.phase for state in store.states()}
        if all(phases.get(node) is phase for node, phase in EXPECTED.items()):
            if not said:
                telling.say("every node is in its place; jobs run on all six that serve")
            said = True
            ran = _count(user_jobs(cluster.client))
            if all(ran[node] for node, phase in EXPECTED.items() if phase is Phase.IN_SERVICE):
                return True
        first_serve = all(phases.get(node) is Phase.IN_SERVICE for node in FIRST)
        if waiting and first_serve and time.monotonic() > next_at:
            node = waiting.pop(0)
            bad = f" - with a hidden fault: {', '.join(FAULTS[node])}" if node in FAULTS else ""
            telling.say(f"[bold]{node}[/] joins late{bad}")
            cluster.add(node)
            next_at = time.monotonic() + ARRIVE_EVERY_S
        time.sleep(0.3)
    return False


def _judge(
    console: Console, store: Store, jobs: Jobs, records: list[JobRecord], *, in_time: bool, took: float
) -> int:
    states = {state.node: state for state in store.states()}
    _table(console, list(states.values()), records)
    early = started_too_early(store, records)
    rungs = {node: [one.rung for one in state.attempts] for node, state in states.items()}
    points = {
        "every node came to its place": in_time,
        "no user job started on a node before it was admitted": not early,
        "jobs ran on the admitted nodes": all(
            _count(records)[node] > 0 for node in (*FIRST, "gpu-05", "gpu-06")
        ),
        "no job ran on gpu-07, which has lost a GPU": _count(records)["gpu-07"] == 0,
        "gpu-06 was rebooted, failed again, was replaced": rungs.get("gpu-06") == [Rung.REBOOT, Rung.REPLACE],
        "gpu-07 was rebooted once, then a person was called": rungs.get("gpu-07") == [Rung.REBOOT],
        "healthy nodes were not repaired": not any(rungs.get(node) for node in (*FIRST, "gpu-05")),
    }
    console.print()
    for text, ok in points.items():
        console.print(f"  {'[green]yes[/]' if ok else '[red]NO[/] '}  {text}")
    for line in early[:10]:
        console.print(f"       {line}", markup=False)
    console.print(f"\n{jobs.submitted} user jobs submitted, {len(records)} started; {took:.0f} s in all")
    return 0 if all(points.values()) else 1


def _count(records: list[JobRecord]) -> Counter[str]:
    return Counter(node for record in records for node in record.nodes)


def _table(console: Console, states: list[NodeState], records: list[JobRecord]) -> None:
    from rich.table import Table

    shown = Table("NODE", "PHASE", "VERDICT", "REPAIRS", "JOBS", "ADMITTED AFTER", "REASON", box=None)
    jobs = _count(records)
    for state in states:
        admitted = state.admitted_first_at - state.arrived_at if state.admitted_first_at else 0.0
        shown.add_row(
            state.node,
            f"[{COLOUR.get(state.phase, 'white')}]{state.phase.value}[/]",
            state.verdict or "-",
            ", ".join(one.rung.value for one in state.attempts) or "-",
            str(jobs[state.node]),
            f"{admitted:.0f} s" if admitted else "-",
            state.reason,
        )
    console.print()
    console.print(shown)
