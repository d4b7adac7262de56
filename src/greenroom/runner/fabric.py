"""Runs a campaign: starts the ranks of every pair of a round at once, and judges what they say."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from random import Random
from threading import Event

from greenroom.model.fabric import Findings, Trial
from greenroom.probes.host import Host, ProbeUnavailable
from greenroom.runner.campaign import ALONE, Wish, conclude, next_round, without_partner
from greenroom.runner.meeting import Limits, judge_meeting
from greenroom.workloads.answers import Answer, command
from greenroom.workloads.start import ask

FIRST_PORT, PORTS = 29500, 2000
MAX_RANKS = 128
"""At once, however many nodes a test has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a command is started on a node."""

    prefix: tuple[str, ...]
    """Command line before the command; ``{node}`` is replaced."""
    quoted: bool = False
    """The far side takes one string for its shell (ssh)."""

    def argv(self, node: str, words: Sequence[str]) -> list[str]:
        """The command line that starts ``words`` on the node."""
        start = [word.replace("{node}", node) for word in self.prefix]
        return [*start, shlex.join(words)] if self.quoted else [*start, *words]

    def with_words(self, *words: str) -> Way:
        """With more options of the program that starts it."""
        return replace(self, prefix=(self.prefix[0], *words, *self.prefix[1:]))


WAYS = {
    "ssh": Way(
        prefix=("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-n", "{node}"),
        quoted=True,
    ),
    "slurm": Way(prefix=("srun", "--quiet", "--overlap", "-N1", "-n1", "-w", "{node}")),
    "netns": Way(prefix=("ip", "netns", "exec", "{node}")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTest:
    """What every pair does."""

    way: Way
    spec: Mapping[str, object]
    """For the workload; rank, world, address and adapter are set for each."""
    workload: str = "collective"
    limits: Limits = field(default_factory=Limits)
    deadline_s: float = 120.0
    python: str = ""
    """Interpreter on the nodes; empty: ours."""
    instead: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Node -> command line instead of ``python -m greenroom.workloads``; its name and SPEC are added."""


Told = Callable[[Trial], None]


def run_campaign(
    wish: Wish,
    test: PairTest,
    host: Host,
    dice: Random,
    *,
    told: Told = lambda _: None,
    stop: Event | None = None,
) -> tuple[list[Trial], Findings]:
    """Round after round, until all that can be known is known.

    ``told`` hears of each trial as it ends. ``stop``, which ends what ``host`` runs, is set in the end.
    """
    trials: list[Trial] = []
    number = 0
    # A test waits for its ranks: there must be room for all of both.
    room = MAX_RANKS + MAX_RANKS // 2 + 2 * wish.rules.group
    with ThreadPoolExecutor(room) as pool, _set_at_end(stop):
        runner = _Runner(test, host, pool, wish)
        while step := next_round(wish, trials, dice):
            stage, pairs = step
            number += 1
            # What is too much for one round comes in the next.
            most = max(1, MAX_RANKS // max(map(len, pairs)))
            runs = [
                pool.submit(runner.meet, pair, number, place, level=stage.level, rail=stage.rail)
                for place, pair in enumerate(pairs[:most])
            ]
            for run in runs:
                trials.append(run.result())
                told(trials[-1])
        for place, node in enumerate(without_partner(wish, trials)):
            trials.append(runner.meet((node,), number + 1, place, level=ALONE, rail=wish.rails[0]))
            told(trials[-1])
    return trials, conclude(wish, trials)


@contextmanager
def _set_at_end(stop: Event | None) -> Iterator[None]:
    """Before the pool waits for its threads."""
    try:
        yield
    finally:
        if stop:
            stop.set()


class _Runner:
    def __init__(self, test: PairTest, host: Host, pool: ThreadPoolExecutor, wish: Wish) -> None:
        self._test, self._host, self._pool = test, host, pool
        self._addresses = {
            node: find_address(host, test.way, node) for node in (*wish.nodes, *wish.witnesses)
        }

    def meet(self, nodes: tuple[str, ...], number: int, place: int, *, level: str, rail: str) -> Trial:
        """One test on these nodes, at a place in its round; on one node: two ranks on it."""
        port = FIRST_PORT + (number * 97 + place) % PORTS
        more = {"address": f"{self._addresses[nodes[0]]}:{port}", "adapter": rail}
        test = replace(self._test, workload="alone") if len(nodes) == 1 else self._test
        ranks = start_ranks(test, self._host, self._pool, nodes, more)
        met = judge_meeting(dict(zip(nodes, ranks, strict=True)), self._test.limits)
        return Trial(
            nodes=nodes,
            outcome=met.outcome,
            round=number,
            level=level,
            rail=rail,
            why=met.why,
            culprits=met.culprits,
            measured=met.measured,
        )


def start_ranks(
    test: PairTest, host: Host, pool: ThreadPoolExecutor, nodes: Sequence[str], more: Mapping[str, object]
) -> list[Answer]:
    """Start a rank on each of the nodes, in this order, and wait for what they say."""
    spec = {**test.spec, **more, "world": len(nodes), "deadline_s": test.deadline_s}

    def one(rank: int, node: str) -> Answer:
        words = command(test.workload, {**spec, "rank": rank}, python=test.python)
        if other := test.instead.get(node):
            words = [*other, *words[3:]]
        return ask(host, test.way.argv(node, words), deadline_s=test.deadline_s)

    return [run.result() for run in [pool.submit(one, rank, node) for rank, node in enumerate(nodes)]]


def find_address(host: Host, way: Way, node: str) -> str:
    """Where the first rank listens: what Slurm or the namespace says; elsewhere the node's name will do."""
    try:
        if way.prefix[0] == "srun":
            ran = host.run(["scontrol", "show", "node", "-o", node], timeout_s=10)
            known = re.search(r" NodeAddr=(\S+)", ran.stdout)
            return known[1] if known else node
        if way == WAYS["netns"]:
            ran = host.run(["ip", "-n", node, "-j", "-4", "addr", "show", "scope", "global"], timeout_s=5)
            links = json.loads(ran.stdout or "[]")
            return str(ip_address(links[0]["addr_info"][0]["local"]))
    except (ProbeUnavailable, ValueError, LookupError, TypeError):
        pass
    return node


def idle_nodes(host: Host) -> list[str]:
    """Nodes in service that do nothing, as Slurm says: not drained, not reserved, no job on them.

    Raises:
        ProbeUnavailable: Slurm does not answer.
    """
    ran = host.run(["sinfo", "--noheader", "--Node", "--states=idle", "--format=%N %t"], timeout_s=10)
    if ran.rc:
        raise ProbeUnavailable(f"sinfo: exit code {ran.rc}: {ran.stderr.strip():.200}")
    # "idle" alone: idle* does not answer, idle~ is asleep.
    return list(dict.fromkeys(line.split()[0] for line in ran.stdout.splitlines() if line.endswith(" idle")))
