"""A small real training on some nodes at once, and what it says of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from greenroom.model.figures import median
from greenroom.model.words import Outcome
from greenroom.probes.host import Host
from greenroom.runner.fabric import PairTest, find_address, start_ranks
from greenroom.workloads.answers import Answer

PORT = 29400
TOLERANCE = 1e-3
"""Own choice, relative: orders of additions differ between devices, by 1e-6 in fp32; a flipped bit of a
gradient's exponent or a lost part of the data shows."""
MIN_RANKS = 3
"""Of two ranks, neither is the straggler, and neither the one with other weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Straggler:
    """A rank whose own work, without the others, takes longer than is usual."""

    node: str
    rank: int
    own_ms: float
    usual_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """What a training said."""

    outcome: Outcome
    why: str = ""
    culprits: tuple[str, ...] = ()
    """Nodes, where the reason is known to be theirs."""
    stragglers: tuple[Straggler, ...] = ()
    """To be looked at; slowness alone fails nobody."""
    step_ms: float | None = None
    ranks: Sequence[Mapping[str, object]] = field(default_factory=tuple)
    """What each rank said."""


def train(
    nodes: Sequence[str], test: PairTest, host: Host, stop: Event, *, ranks: int = 1, slower_percent: float
) -> Trained:
    """Run it with so many ranks a node. ``stop``, which ends what ``host`` runs, is set in the end."""
    places = [node for node in nodes for _ in range(ranks)]
    address = f"{find_address(host, test.way, nodes[0])}:{PORT}"
    with ThreadPoolExecutor(len(places)) as pool:
        try:
            answers = start_ranks(test, host, pool, places, {"address": address})
        finally:
            stop.set()
    return judge_training(list(zip(places, answers, strict=True)), slower_percent=slower_percent)


def judge_training(answers: Sequence[tuple[str, Answer]], *, slower_percent: float) -> Trained:
    """Node and answer of each rank, in the order of ranks."""
    said = tuple({"node": node, **(one.result or {"unable": one.unable})} for node, one in answers)
    absent = {node: one.unable or "no result" for node, one in answers if one.result is None}
    if absent:
        why = "; ".join(f"{node}: {reason}" for node, reason in absent.items())
        return Trained(outcome=Outcome.UNABLE, why=why, culprits=tuple(absent), ranks=said)
    results = [(node, one.result or {}) for node, one in answers]
    why, culprits = _fault(results)
    if why:
        return Trained(outcome=Outcome.FAIL, why=why, culprits=tuple(dict.fromkeys(culprits)), ranks=said)
    return Trained(
        outcome=Outcome.PASS,
        stragglers=_stragglers(results, slower_percent),
        step_ms=max(result["step_ms"] for _, result in results),
        ranks=said,
    )


def _fault(results: list[tuple[str, dict[str, Any]]]) -> tuple[str, list[str]]:
    """What is wrong, and on which nodes; no node: it cannot be told."""
    for node, result in results:
        if not result.get("reached"):
            return f"no connection, as {node} says: {result.get('why')}; try `greenroom fabric run`", []
    for node, result in results:
        if broke := result.get("broke"):
            return f"the connection broke, as {node} says: {broke}; try `greenroom fabric run`", []
    wrong = {node: one["gradient_off"] for node, one in results if one["gradient_off"] > TOLERANCE}
    if wrong:
        told = ", ".join(f"{node} (by {off:.2g})" for node, off in wrong.items())
        return f"gradients are not those that the processor computes: {told}", list(wrong)
    if found := _minority([(node, str(one["reference"])) for node, one in results]):
        return f"the processor of {', '.join(found)} computes other losses than the others'", found
    if len({str(one["weights"]) for _, one in results}) > 1:
        found = _minority([(node, str(one["weights"])) for node, one in results])
        who = f": {', '.join(found)}" if found else ""
        return f"ranks hold other weights in the end{who}", found
    losses, wanted = results[0][1]["losses"], results[0][1]["reference"]
    for step, (loss, want) in enumerate(zip(losses, wanted, strict=True), 1):
        if not math.isclose(loss, want, rel_tol=TOLERANCE):
            return f"loss {loss:g} at step {step}, expected {want:g}; try `greenroom bisect`", []
    return "", []


def _minority(said: list[tuple[str, str]]) -> list[str]:
    (usual, count), *_ = Counter(value for _, value in said).most_common(1)
    if len(said) < MIN_RANKS or 2 * count <= len(said):
        return []
    return list(dict.fromkeys(node for node, value in said if value != usual))


def _stragglers(results: list[tuple[str, dict[str, Any]]], slower_percent: float) -> tuple[Straggler, ...]:
    if len(results) < MIN_RANKS:
        return ()
    usual = median(result["own_ms"] for _, result in results)
    return tuple(
        Straggler(node=node, rank=rank, own_ms=result["own_ms"], usual_ms=round(usual, 3))
        for rank, (node, result) in enumerate(results)
        if result["own_ms"] > usual * (1 + slower_percent / 100)
    )
