"""Which nodes to test together next. Pure: what was tested comes in, dice are handed in.

First everybody once, in disjoint random pairs, or in groups: one that passes proves all in it, one that
fails is halved, down to pairs. Then each node that has not passed is tested with two further, distinct
partners that have: a partner of the first round may itself be the bad one. Who passes once is proven. How it
compares with other ways: `greenroom sim blame`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from greenroom.model.fabric import Trial
from greenroom.model.words import Outcome

Nodes = tuple[str, ...]
Allowed = Callable[[str, str], bool]
"""Whether two nodes may be tested together (in one rack; in different ones)."""
SMALL = 8
"""Up to so many nodes it may be chance that nobody passes: other partners are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How much is asked before a node is blamed."""

    confirmations: int = 2
    """Further distinct, proven partners with which a node must fail before it is blamed."""
    shared_above: float = 0.3
    """Part of the nodes from which their failing together has one cause, and no node is blamed."""
    shared_least: int = 3
    """Fewer suspects than this are never a shared cause on their number alone."""
    group: int = 2
    """Nodes of a first test."""
    max_rounds: int = 20
    max_unable: int = 2
    """Times a node may be part of a test that could not be made before it is given up as undecided."""
    flake: float = 0.02
    """Part of the tests of good nodes that fail for no reason: for the confidence."""
    bad: float = 0.02
    """Part of the nodes that are bad before anything is known: for the confidence."""


def anybody(one: str, other: str) -> bool:  # noqa: ARG001
    """No topology: every pair may be tested."""
    return True


@dataclass(slots=True)
class Standing:
    """What the trials so far say of each node."""

    proven: set[str] = field(default_factory=set)
    """Passed at least once, or known to be well (witnesses)."""
    tested: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Node -> partners with which it was tested."""
    failed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Node -> partners with which it failed."""
    confirmed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Node -> partners with which it failed when they were already proven."""
    unable: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """Node -> tests with it that could not be made."""
    why_unable: dict[str, str] = field(default_factory=dict)
    rounds: int = 0
    runs: int = 0


def stand(trials: Iterable[Trial], witnesses: Iterable[str] = ()) -> Standing:
    """Replay the trials, round by round."""
    standing = Standing(proven=set(witnesses))
    by_round: dict[int, list[Trial]] = defaultdict(list)
    for trial in trials:
        by_round[trial.round].append(trial)
    for number in sorted(by_round):
        before = set(standing.proven)
        for trial in by_round[number]:
            _take(standing, trial, before)
        standing.rounds += 1
    return standing


def _take(standing: Standing, trial: Trial, proven: set[str]) -> None:
    standing.runs += 1
    if trial.outcome is Outcome.UNABLE:
        for node in trial.culprits or trial.nodes:
            standing.unable[node] += 1
            standing.why_unable[node] = trial.why
        return
    if len(trial.nodes) > 2:
        standing.proven |= set(trial.nodes) if trial.outcome is Outcome.PASS else set()
        return
    for node in trial.nodes:
        others = set(trial.nodes) - {node}
        standing.tested[node] |= others
        if trial.outcome is Outcome.PASS:
            standing.proven.add(node)
        else:
            standing.failed[node] |= others
            standing.confirmed[node] |= others & proven


def confirmed(node: str, standing: Standing, rules: Rules) -> bool:
    """Whether a node that never passed has failed as often as is asked for a blame."""
    return (
        len(standing.failed[node]) > rules.confirmations
        and len(standing.confirmed[node]) >= rules.confirmations
    )


def plan(
    nodes: Sequence[str],
    trials: Sequence[Trial],
    dice: Random,
    *,
    rules: Rules = Rules(),
    witnesses: Sequence[str] = (),
    allowed: Allowed = anybody,
) -> list[Nodes]:
    """Pairs or groups of the next round, disjoint; none: all that can be known is known."""
    standing = stand(trials, witnesses)
    if standing.rounds >= rules.max_rounds:
        return []
    waiting = [
        node
        for node in nodes
        if node not in standing.proven
        and standing.unable[node] < rules.max_unable
        and not confirmed(node, standing, rules)
    ]
    if not waiting:
        return []
    dice.shuffle(waiting)
    if not trials:
        groups = _groups(waiting, rules.group, allowed) if rules.group > 2 else []
        taken = {node for group in groups for node in group}
        return groups + _first([one for one in waiting if one not in taken], witnesses, dice, allowed)
    if halves := _halves(trials):
        return halves
    if not standing.proven and (len(nodes) > SMALL or standing.rounds >= len(nodes)):
        return []  # nobody passes: no node's fault
    well = sorted(
        (one for one in standing.proven if standing.unable[one] < rules.max_unable),
        key=lambda _: dice.random(),
    )
    pairs, left = _match(waiting, well, standing, allowed)
    more, _ = _pair_up(left, standing, allowed)
    return [*pairs, *more]


def _groups(waiting: list[str], size: int, allowed: Allowed) -> list[Nodes]:
    """Groups in which every two may be tested together; who has nobody is left to the pairs."""
    classes: list[list[str]] = []
    for node in waiting:
        found = next((one for one in classes if all(allowed(node, other) for other in one)), None)
        if found is None:
            classes.append(found := [])
        found.append(node)
    return [group for one in classes if len(one) > 1 for group in cut(one, size)]


def _halves(trials: Sequence[Trial]) -> list[Nodes]:
    """Both halves of the groups that failed in the last round."""
    last = max(trial.round for trial in trials)
    failed = [
        trial.nodes
        for trial in trials
        if trial.round == last and trial.outcome is Outcome.FAIL and len(trial.nodes) > 3
    ]
    return [half for nodes in failed for half in (nodes[: len(nodes) // 2], nodes[len(nodes) // 2 :])]


def _first(waiting: list[str], witnesses: Sequence[str], dice: Random, allowed: Allowed) -> list[Nodes]:
    pairs, left = _pair_up(waiting, Standing(), allowed)
    well = sorted(witnesses, key=lambda _: dice.random())
    more, _ = _match(left, well, Standing(), allowed)
    return [*pairs, *more]


def _match(
    waiting: list[str], well: list[str], standing: Standing, allowed: Allowed
) -> tuple[list[Nodes], list[str]]:
    """Each with a proven partner that it has not met, as far as they go; and who is left."""
    pairs: list[Nodes] = []
    left, free = [], dict.fromkeys(well)
    # Who has failed most first: the fewest partners are left for it.
    for node in sorted(waiting, key=lambda one: -len(standing.failed[one])):
        met = standing.tested[node]
        partner = next((one for one in free if one != node and one not in met and allowed(node, one)), "")
        if partner:
            del free[partner]
            pairs.append((node, partner))
        else:
            left.append(node)
    return pairs, left


def _pair_up(waiting: list[str], standing: Standing, allowed: Allowed) -> tuple[list[Nodes], list[str]]:
    """Among themselves: a pass proves both."""
    pairs: list[Nodes] = []
    left, free = [], dict.fromkeys(waiting)
    for node in waiting:
        if node not in free:
            continue
        del free[node]
        met = standing.tested[node]
        partner = next((one for one in free if one not in met and allowed(node, one)), "")
        if partner:
            del free[partner]
            pairs.append((node, partner))
        else:
            left.append(node)
    return pairs, left


def cut(nodes: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """Groups of ``size`` or a little more, as equal as can be: nobody is left over.

    Raises:
        ValueError: a group of fewer than two tests nothing.
    """
    if size < 2:
        raise ValueError(f"a group of {size}: expected 2 or more")
    count = max(1, len(nodes) // size)
    return [tuple(nodes[index::count]) for index in range(count)] if nodes else []
