"""A campaign: pairs inside racks, then across them, over each adapter that is asked for. Pure.

What is to be tested next follows from the trials so far alone, so a campaign can be stored and gone on with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from greenroom.model.fabric import Blame, Findings, Trial
from greenroom.runner.culprits import adapters, judge, paths
from greenroom.runner.pairs import Allowed, Rules, anybody, plan

INSIDE, ACROSS, ALONE = "inside", "across", "alone"
Pairs = list[tuple[str, ...]]
"""Or groups, of the first rounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be found out."""

    nodes: tuple[str, ...]
    witnesses: tuple[str, ...] = ()
    """Idle nodes in service: proven, partners only."""
    racks: Mapping[str, str] = field(default_factory=dict)
    """Node -> rack (leaf switch, block); empty: no topology is known."""
    rails: tuple[str, ...] = ("",)
    """Adapters to force, one after the other; ``("",)``: as the library likes."""
    rules: Rules = field(default_factory=Rules)

    def rack(self, node: str) -> str:
        """Where a node stands; nodes of unknown place stand together."""
        return self.racks.get(node, "")

    def sizes(self) -> Counter[str]:
        """Rack -> number of nodes in it."""
        return Counter(self.rack(node) for node in {*self.nodes, *self.witnesses})

    def together(self, one: str, other: str) -> bool:
        """Whether two nodes stand in one rack."""
        return self.rack(one) == self.rack(other)

    def apart(self, one: str, other: str) -> bool:
        """Whether two nodes stand in different racks."""
        return not self.together(one, other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One question of a campaign: these nodes, over this adapter, inside racks or across."""

    level: str
    rail: str
    nodes: tuple[str, ...]
    allowed: Allowed
    wish: Wish
    trials: tuple[Trial, ...]
    """Those of this stage."""

    def next_pairs(self, dice: Random) -> Pairs:
        """Pairs of its next round; none: it is done."""
        return plan(
            self.nodes,
            self.trials,
            dice,
            rules=self.wish.rules,
            witnesses=self.wish.witnesses,
            allowed=self.allowed,
        )

    def judge(self) -> Findings:
        """What its trials say."""
        return judge(
            self.nodes,
            self.trials,
            rules=self.wish.rules,
            witnesses=self.wish.witnesses,
            allowed=self.allowed,
        )


def next_round(wish: Wish, trials: Sequence[Trial], dice: Random) -> tuple[Stage, Pairs] | None:
    """The first stage that is not done, and its next pairs; None: all is done."""
    for stage in _stages(wish, trials):
        if pairs := stage.next_pairs(dice):
            return stage, pairs
    return None


def conclude(wish: Wish, trials: Sequence[Trial]) -> Findings:
    """What all stages say together."""
    found = {(stage.level, stage.rail): stage.judge() for stage in _stages(wish, trials)}
    near = {rail: one for (level, rail), one in found.items() if level != ACROSS}
    far = {rail: one for (level, rail), one in found.items() if level == ACROSS}
    blamed = adapters(near) if len(near) > 1 else [one for each in near.values() for one in each.blamed]
    blamed += _everywhere({rail: _ways(wish, rail, one) for rail, one in far.items() if not one.shared})
    named = {one.name for one in blamed if one.what in ("node", "adapter")}
    undecided = {
        node: reason
        for one in (*near.values(), *far.values())
        for node, reason in one.undecided.items()
        if node not in named
    }
    undecided |= dict.fromkeys(without_partner(wish, trials), "no partner was there")
    undecided |= {
        one.nodes[0]: f"no partner was there; tested alone: {one.outcome.value} {one.why}".rstrip()
        for one in trials
        if one.level == ALONE
    }
    return Findings(
        blamed=tuple(blamed),
        cleared=tuple(node for node in wish.nodes if node not in named and node not in undecided),
        undecided=undecided,
        shared="; ".join(
            " ".join(
                word for word in (level and f"{level} racks", rail and f"over {rail}", one.shared) if word
            )
            for (level, rail), one in found.items()
            if one.shared
        ),
        rounds=len({trial.round for trial in trials}),
        runs=len(trials),
    )


def without_partner(wish: Wish, trials: Sequence[Trial]) -> list[str]:
    """Nodes that were tested with nobody."""
    met = {node for trial in trials if trial.level != ALONE for node in trial.nodes}
    return [node for node in wish.nodes if node not in met]


def _ways(wish: Wish, rail: str, far: Findings) -> list[Blame]:
    """Who fails only across racks: its way; who has nobody in its rack to tell that by: itself."""
    sizes = wish.sizes()
    alone = [one for one in far.blamed if sizes[wish.rack(one.name)] == 1]
    others = replace(far, blamed=tuple(one for one in far.blamed if one not in alone))
    return [replace(one, rail=rail) for one in (*alone, *paths(wish.racks, others))]


def _everywhere(by_rail: Mapping[str, Sequence[Blame]]) -> list[Blame]:
    """A way that is bad over every adapter is one way."""
    over: dict[tuple[str, str], list[Blame]] = {}
    for ones in by_rail.values():
        for one in ones:
            over.setdefault((one.what, one.name), []).append(one)
    found: list[Blame] = []
    for ones in over.values():
        everywhere = len(ones) == len(by_rail)
        found += [replace(max(ones, key=lambda one: one.confidence), rail="")] if everywhere else ones
    return found


def _stages(wish: Wish, trials: Sequence[Trial]) -> Iterator[Stage]:
    """All stages that can be told by now: who is tested across racks follows from who passed inside."""
    sizes = wish.sizes()

    def stage(level: str, rail: str, nodes: tuple[str, ...], allowed: Allowed) -> Stage:
        own = tuple(trial for trial in trials if (trial.level, trial.rail) == (level, rail))
        return Stage(level=level, rail=rail, nodes=nodes, allowed=allowed, wish=wish, trials=own)

    for rail in wish.rails:
        if len(sizes) < 2:
            yield stage("", rail, wish.nodes, anybody)
            continue
        neighbours = tuple(node for node in wish.nodes if sizes[wish.rack(node)] > 1)
        near = stage(INSIDE, rail, neighbours, wish.together)
        yield near
        if near.next_pairs(Random(0)):  # noqa: S311 - whether there are any, not which
            continue  # who goes on is not known yet
        alone = tuple(node for node in wish.nodes if sizes[wish.rack(node)] == 1)
        if goers := (*near.judge().cleared, *alone):
            yield stage(ACROSS, rail, goers, wish.apart)
