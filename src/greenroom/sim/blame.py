"""Many campaigns on made-up fabrics: false blames, misses and cost of each method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from statistics import median

from greenroom.sim.fabric import METHODS, Fabric, Method, Told, confirmed_pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One method on one kind of fabric."""

    method: str
    nodes: int
    bad: int
    flake: float
    trials: int
    false_blames: float
    """Good nodes that were blamed, a campaign."""
    misses: float
    """Bad nodes that were not blamed, a campaign."""
    runs: float
    """Tests, a campaign (median)."""
    rounds: float
    """Rounds of tests that run at the same time (median)."""
    causes: bool = False
    """Whether something other than nodes was broken, too: a path, an adapter, a rail."""
    named: float = 1.0
    """Part of the campaigns that named it."""


def names(count: int) -> tuple[str, ...]:
    """n000, n001 ..."""
    return tuple(f"n{index:04}" for index in range(count))


def make(count: int, bad: int, flake: float, dice: Random) -> Fabric:
    """A fabric with so many bad nodes, anywhere."""
    nodes = names(count)
    return Fabric(nodes=nodes, bad=frozenset(dice.sample(nodes, bad)), flake=flake)


def compare(
    *,
    nodes: int,
    bad: int,
    flake: float,
    trials: int,
    seed: int = 1,
    methods: Sequence[str] = tuple(METHODS),
) -> Iterator[Row]:
    """Every method on the same fabrics."""
    for name in methods:
        dice = Random(f"{seed} {nodes} {bad} {flake}")  # noqa: S311 - to be repeatable
        fabrics = [make(nodes, bad, flake, dice) for _ in range(trials)]
        yield _row(name, METHODS[name], fabrics, Random(f"{seed} {name}"))  # noqa: S311


def _row(name: str, method: Method, fabrics: Sequence[Fabric], dice: Random) -> Row:
    told = [method(fabric, dice) for fabric in fabrics]
    return _sum(name, fabrics, told, [frozenset()] * len(told))


def _sum(name: str, fabrics: Sequence[Fabric], told: Sequence[Told], causes: Sequence[frozenset[str]]) -> Row:
    pairs = list(zip(fabrics, told, strict=True))
    return Row(
        method=name,
        nodes=len(fabrics[0].nodes),
        bad=len(fabrics[0].bad),
        flake=fabrics[0].flake,
        trials=len(told),
        false_blames=sum(len(one.blamed - fabric.bad) for fabric, one in pairs) / len(told),
        misses=sum(len(fabric.bad - one.blamed) for fabric, one in pairs) / len(told),
        runs=median(one.runs for one in told),
        rounds=median(one.rounds for one in told),
        causes=any(causes),
        named=sum(want <= one.causes for want, one in zip(causes, told, strict=True)) / len(told),
    )


RACK = 8
RAILS = ("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3")


Maker = Callable[[Fabric, Random], tuple[Fabric, str]]


def _path(fabric: Fabric, dice: Random) -> tuple[Fabric, str]:
    racks = {node: f"r{index // RACK}" for index, node in enumerate(fabric.nodes)}
    cut = dice.choice(sorted(set(racks.values())))
    return replace(fabric, racks=racks, cut_off=frozenset({cut})), f"path rack {cut}"


def _adapter(fabric: Fabric, dice: Random) -> tuple[Fabric, str]:
    node, rail = dice.choice([one for one in fabric.nodes if one not in fabric.bad]), dice.choice(RAILS)
    return replace(fabric, broken=frozenset({(node, rail)})), f"adapter {node} {rail}"


def _switch(fabric: Fabric, dice: Random) -> tuple[Fabric, str]:
    rail = dice.choice(RAILS)
    return replace(fabric, dead_rails=frozenset({rail})), f"rail {rail}"


FAULTS: dict[str, tuple[Maker, tuple[str, ...]]] = {
    "path": (_path, ("",)),
    "adapter": (_adapter, RAILS),
    "rail switch": (_switch, RAILS),
}


def structural(*, nodes: int, bad: int, flake: float, trials: int, seed: int = 1) -> Iterator[Row]:
    """Our method where something other than nodes is broken, too."""
    for name, (maker, rails) in FAULTS.items():
        dice = Random(f"{seed} {name} {nodes} {bad} {flake}")  # noqa: S311 - to be repeatable
        fabrics, causes = [], []
        for _ in range(trials):
            fabric, cause = maker(make(nodes, bad, flake, dice), dice)
            fabrics.append(fabric)
            causes.append(frozenset({cause}))
        told = [confirmed_pairs(fabric, dice, rails=rails) for fabric in fabrics]
        yield _sum(f"confirmed pairs, {name} fault", fabrics, told, causes)
