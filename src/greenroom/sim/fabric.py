"""A made-up fabric with known faults, and ways to find them: how often does each blame the innocent?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from greenroom.model.fabric import Trial
from greenroom.model.words import Outcome
from greenroom.runner.campaign import Wish, conclude, next_round


@dataclass(frozen=True, slots=True, kw_only=True)
class Fabric:
    """What is true, and what no method may look at but by testing pairs."""

    nodes: tuple[str, ...]
    bad: frozenset[str] = frozenset()
    """Nodes that fail every test."""
    flake: float = 0.0
    """Chance that a test of good nodes fails all the same."""
    racks: Mapping[str, str] = field(default_factory=dict)
    cut_off: frozenset[str] = frozenset()
    """Racks that no other rack reaches."""
    broken: frozenset[tuple[str, str]] = frozenset()
    """(node, adapter) that do not work."""
    dead_rails: frozenset[str] = frozenset()
    """Adapters whose switch is dead: nobody passes over them."""

    def passes(self, nodes: Sequence[str], dice: Random, rail: str = "") -> bool:
        """One test."""
        if any(node in self.bad or (node, rail) in self.broken for node in nodes) or rail in self.dead_rails:
            return False
        racks = {self.racks.get(node, "") for node in nodes}
        return not (len(racks) > 1 and racks & self.cut_off) and dice.random() >= self.flake


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a method says, and what it took."""

    blamed: frozenset[str]
    """Nodes."""
    runs: int
    rounds: int
    causes: frozenset[str] = frozenset()
    """Everything else that is named: ``path rack r1``, ``adapter n7 mlx5_3``, ``rail mlx5_3``, ``shared``."""


Method = Callable[[Fabric, Random], Told]


def confirmed_pairs(fabric: Fabric, dice: Random, *, rails: Sequence[str] = ("",)) -> Told:
    """Ours: random pairs, then two further, distinct, proven partners."""
    wish = Wish(nodes=fabric.nodes, racks=fabric.racks, rails=tuple(rails))
    trials: list[Trial] = []
    number = 0
    while step := next_round(wish, trials, dice):
        stage, pairs = step
        number += 1
        trials += [
            Trial(
                nodes=pair,
                outcome=Outcome.PASS if fabric.passes(pair, dice, stage.rail) else Outcome.FAIL,
                round=number,
                level=stage.level,
                rail=stage.rail,
            )
            for pair in pairs
        ]
    found = conclude(wish, trials)
    causes = {
        " ".join(word for word in (one.what, one.name, one.rail) if word)
        for one in found.blamed
        if one.what != "node"
    }
    return Told(
        blamed=frozenset(one.name for one in found.blamed if one.what == "node"),
        runs=found.runs,
        rounds=found.rounds,
        causes=frozenset(causes | ({"shared"} if found.shared else set())),
    )


def _shuffled(nodes: Sequence[str], dice: Random) -> list[str]:
    return dice.sample(list(nodes), len(nodes))


def _first_pass(fabric: Fabric, dice: Random) -> tuple[dict[str, str], set[str]]:
    """Everybody once; the odd one takes a partner that has one. (node -> its partner, nodes that passed)."""
    order = _shuffled(fabric.nodes, dice)
    if len(order) % 2:
        order.append(dice.choice(order[:-1]))
    partner: dict[str, str] = {}
    passed: set[str] = set()
    for one, other in zip(order[::2], order[1::2], strict=True):
        partner[one], partner[other] = other, one
        if fabric.passes((one, other), dice):
            passed |= {one, other}
    return partner, passed


def second_partner(fabric: Fabric, dice: Random) -> Told:
    """Who fails is tested with one other partner, whoever that is; two failures are enough."""
    partner, passed = _first_pass(fabric, dice)
    blamed = set()
    failing = [node for node in fabric.nodes if node not in passed]
    for node in failing:
        other = dice.choice([one for one in fabric.nodes if one not in (node, partner[node])])
        if not fabric.passes((node, other), dice):
            blamed.add(node)
    return Told(blamed=frozenset(blamed), runs=(len(fabric.nodes) + 1) // 2 + len(failing), rounds=2)


def two_passes(fabric: Fabric, dice: Random) -> Told:
    """Who fails is tested once more, with one that passed; not passed twice is bad."""
    _, passed = _first_pass(fabric, dice)
    failing = [node for node in fabric.nodes if node not in passed]
    blamed = set(failing)
    if passed:
        well = _shuffled(sorted(passed), dice)
        for index, node in enumerate(failing):
            if fabric.passes((node, well[index % len(well)]), dice):
                blamed.discard(node)
    return Told(blamed=frozenset(blamed), runs=(len(fabric.nodes) + 1) // 2 + len(failing), rounds=2)


def bisection(fabric: Fabric, dice: Random) -> Told:
    """Halves of a group that fails are tested again; at three or fewer each with one that passed."""
    left, well, suspects = [list(_shuffled(fabric.nodes, dice))], set[str](), list[str]()
    runs = rounds = 0
    while left:
        rounds += 1
        following: list[list[str]] = []
        for group in left:
            runs += 1
            if fabric.passes(group, dice):
                well |= set(group)
            elif len(group) <= 3:
                suspects += group
            else:
                half = len(group) // 2
                following += [group[:half], group[half:]]
        left = following
    blamed = set()
    partners = _shuffled(sorted(well), dice)
    for index, node in enumerate(suspects):
        if not partners:
            blamed.add(node)
            continue
        runs += 1
        if not fabric.passes((node, partners[index % len(partners)]), dice):
            blamed.add(node)
    return Told(blamed=frozenset(blamed), runs=runs, rounds=rounds + bool(suspects))


def shuffles(fabric: Fabric, dice: Random, *, times: int = 15) -> Told:
    """Everybody in random pairs, many times; who passes in fewer than half of them is bad."""
    passed = dict.fromkeys(fabric.nodes, 0)
    for _ in range(times):
        order = _shuffled(fabric.nodes, dice)
        for one, other in zip(order[::2], order[1::2], strict=False):
            if fabric.passes((one, other), dice):
                passed[one] += 1
                passed[other] += 1
    blamed = frozenset(node for node, number in passed.items() if number * 2 < times)
    return Told(blamed=blamed, runs=times * (len(fabric.nodes) // 2), rounds=times)


def all_pairs(fabric: Fabric, dice: Random) -> Told:
    """Everybody with everybody; who passes in fewer than half of them is bad."""
    nodes = fabric.nodes
    passed = dict.fromkeys(nodes, 0)
    for index, one in enumerate(nodes):
        for other in nodes[index + 1 :]:
            if fabric.passes((one, other), dice):
                passed[one] += 1
                passed[other] += 1
    blamed = frozenset(node for node, number in passed.items() if number * 2 < len(nodes) - 1)
    return Told(
        blamed=blamed, runs=len(nodes) * (len(nodes) - 1) // 2, rounds=len(nodes) - 1 + len(nodes) % 2
    )


METHODS: Mapping[str, Method] = {
    "confirmed pairs": confirmed_pairs,
    "second partner": second_partner,
    "two passes": two_passes,
    "bisection": bisection,
    "15 shuffles": shuffles,
    "all pairs": all_pairs,
}
