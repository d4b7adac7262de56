"""How nodes differ in what they are set up with: from a good one, or from most of their kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

Facts = Mapping[str, str]
ABSENT = "(absent)"
MAJORITY = 0.6
"""Own choice: a value that fewer nodes share is no norm; a fleet in the midst of an update has none."""
MIN_NODES = 3
"""Of two nodes that differ, neither is the odd one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One fact in which a node is not as it should be."""

    fact: str
    measured: str
    expected: str
    share: float = 1.0
    """Part of the nodes that have the expected value, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Norm:
    """What most nodes have."""

    facts: Facts
    shares: Mapping[str, float]
    split: Mapping[str, Mapping[str, int]]
    """Facts of which no value has a majority: value -> nodes."""


def differences(facts: Facts, golden: Facts, shares: Mapping[str, float] | None = None) -> list[Drift]:
    """Facts of a node that differ from the golden ones, lack, or are too many; sorted by name.

    With ``shares`` the golden facts are a fleet's: there, what only this node has counts as well.
    """
    known = shares or {}
    return [
        Drift(fact=name, measured=measured, expected=expected, share=known.get(name, 1.0))
        for name in sorted({*facts, *golden})
        if (measured := facts.get(name, ABSENT)) != (expected := golden.get(name, ABSENT))
    ]


def majority(nodes: Mapping[str, Facts]) -> Norm:
    """The value of each fact that most nodes share; facts without one are told apart.

    A fact that is absent on most nodes has the value ``(absent)``. Fewer than three nodes have no majority.
    """
    facts: dict[str, str] = {}
    shares: dict[str, float] = {}
    split: dict[str, dict[str, int]] = {}
    for name in sorted({name for one in nodes.values() for name in one}):
        values = Counter(one.get(name, ABSENT) for one in nodes.values())
        value, count = values.most_common(1)[0]
        if len(nodes) >= MIN_NODES and count / len(nodes) >= MAJORITY:
            facts[name], shares[name] = value, count / len(nodes)
        elif len(values) > 1 or len(nodes) < MIN_NODES:
            split[name] = dict(values.most_common())
    return Norm(facts=facts, shares=shares, split=split)


def drifts(nodes: Mapping[str, Facts]) -> dict[str, list[Drift]]:
    """Node -> in what it differs from the majority; nodes that do not differ are left out."""
    norm = majority(nodes)
    found = {}
    for node, facts in sorted(nodes.items()):
        judged = {name: value for name, value in facts.items() if name in norm.facts}
        if odd := differences(judged, norm.facts, norm.shares):
            found[node] = odd
    return found
