"""The smallest set of nodes on which a command fails. Pure: it asks for runs, and is told how they ended.

Delta debugging (Zeller and Hildebrandt, ddmin, IEEE TSE 2002) makes the failing set small. Then each member
is replaced by a node that is well: only the ones without whom the command passes are to blame. So a command
that needs more nodes than a small set has, or that fails anywhere, blames nobody.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from greenroom.model.words import Outcome

Nodes = tuple[str, ...]
Asking = Generator[list[Nodes], list[Outcome], None]
"""Sets that share no node and may run at once -> how each ended."""
STAND_INS = 3
"""Nodes that are tried in the place of a member, where none is known to be well."""
PARTS_LEFT_OUT = 8
"""Before it is said that it fails on any nodes, it is run without each eighth of them."""
MAX_TRIES = 2
"""Times a set is run that could not be run."""


class Undecided(Exception):
    """The search cannot go on; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Culprit:
    """What was found."""

    kind: Literal["node", "together", "shared"]
    """``together``: only all of them on one run fail. ``shared``: any nodes do; none of these is to blame."""
    nodes: Nodes
    ran: Nodes
    """The set on which the command failed: these, and others that fill it up."""
    reason: str


class Bisection:
    """One search. Drive it with `ask`; what is known so far can be read at any time."""

    def __init__(self, nodes: Sequence[str], *, at_least: int = 1) -> None:
        """``at_least``: nodes that the command needs; found out where it is told too low.

        Raises:
            ValueError: fewer nodes than the command needs.
        """
        if not 1 <= at_least <= len(nodes):
            raise ValueError(f"{len(nodes)} nodes, and the command needs {at_least}")
        self.nodes: Nodes = tuple(dict.fromkeys(nodes))
        self.at_least = at_least
        self.smallest: Nodes = ()
        """The smallest set so far on which it failed."""
        self.found: list[Culprit] = []
        self.left: Nodes = self.nodes
        """Not to blame so far."""
        self._known: dict[frozenset[str], Outcome] = {}

    @property
    def proven(self) -> set[str]:
        """Nodes that were part of a run that passed."""
        return {node for nodes, end in self._known.items() if end is Outcome.PASS for node in nodes}

    def ask(self) -> Asking:
        """The whole search: culprit after culprit, until the command passes on all that are left.

        Raises:
            Undecided: a set could not be run.
        """
        while len(self.left) >= self.at_least:
            self.smallest = ()
            if not (yield from self._first_failing([self.left])):
                return
            culprit = yield from self._culprit(self.left)
            if culprit is None:
                continue  # more nodes are needed than was known
            self.found.append(culprit)
            if culprit.kind == "shared":
                return
            self.left = tuple(node for node in self.left if node not in culprit.nodes)

    def _culprit(self, failing: Nodes) -> Generator[list[Nodes], list[Outcome], Culprit | None]:
        ran = yield from self._shrink(failing)
        needed = []
        for member in ran:
            if (yield from self._is_needed(member, ran)):
                needed.append(member)  # noqa: PERF401 - a comprehension cannot yield
        if needed:
            others = ", ".join(node for node in ran if node not in needed)
            return Culprit(
                kind="node" if len(needed) == 1 else "together",
                nodes=tuple(needed),
                ran=ran,
                reason=f"fails {f'with {others}' if others else 'by themselves' if needed[1:] else 'alone'};"
                f" passes with another node in place of {'any of them' if needed[1:] else 'it'}",
            )
        if (yield from self._more_pass(ran)):
            # Any so few nodes fail, and more do not.
            self.at_least = len(ran) + 1
            return None
        return Culprit(
            kind="shared",
            nodes=(),
            ran=ran,
            reason=f"any {len(ran)} of them fail that were tried: something that they share, or the command",
        )

    def _more_pass(self, ran: Nodes) -> Generator[list[Nodes], list[Outcome], bool]:
        """Whether it passes on any set that is larger; most of the nodes are tried where none is known."""
        for parts in (2, 4, PARTS_LEFT_OUT):
            for piece in _pieces(self.left, min(parts, len(self.left))):
                if self._passed_above(len(ran)):
                    return True
                rest = tuple(node for node in self.left if node not in piece)
                if len(rest) > len(ran) and self._end(rest) is None:
                    yield from self._run([rest])
        return self._passed_above(len(ran))

    def _passed_above(self, count: int) -> bool:
        return any(end is Outcome.PASS and len(nodes) > count for nodes, end in self._known.items())

    def _is_needed(self, member: str, ran: Nodes) -> Generator[list[Nodes], list[Outcome], bool]:
        """Whether it passes with somebody else in the member's place."""
        outside = [node for node in self.nodes if node not in ran and not self._blamed(node)]
        proven = self.proven
        # Who is well first; one that is not known to be may fail for its own reasons.
        stand_ins = sorted(outside, key=lambda node: node not in proven)
        for stand_in in stand_ins[: 1 if stand_ins and stand_ins[0] in proven else STAND_INS]:
            others = tuple(stand_in if node == member else node for node in ran)
            if not (yield from self._first_failing([others])):
                return True
        return False

    def _blamed(self, node: str) -> bool:
        return any(node in culprit.nodes for culprit in self.found)

    def _shrink(self, failing: Nodes) -> Generator[list[Nodes], list[Outcome], Nodes]:
        """A set that fails, of which no smaller part does: ddmin, filled up to what the command needs."""
        core, ran, parts = failing, failing, 2
        while len(core) > 1 and parts <= len(core):
            pieces = _pieces(core, parts)
            smaller = yield from self._smaller(pieces, core)
            if smaller:
                core, ran, parts = *smaller, 2
                continue
            rests = (
                [tuple(node for node in core if node not in piece) for piece in pieces] if parts > 2 else []
            )
            smaller = yield from self._smaller(rests, core)
            if smaller:
                core, ran, parts = *smaller, max(2, parts - 1)
            elif parts == len(core):
                break
            else:
                parts = min(len(core), 2 * parts)
        return ran

    def _smaller(
        self, pieces: Iterable[Nodes], core: Nodes
    ) -> Generator[list[Nodes], list[Outcome], tuple[Nodes, Nodes] | None]:
        """The first piece that fails, and the set that ran for it."""
        filled = {full: piece for piece in pieces if (full := self._fill(piece, core))}
        failed = yield from self._first_failing(list(filled))
        if not failed:
            return None
        # Who fills it up and is not known to be well belongs to it.
        proven = self.proven
        piece = tuple(node for node in failed if node in filled[failed] or node not in proven)
        return piece, failed

    def _fill(self, piece: Nodes, core: Nodes) -> Nodes:
        """The piece and as many others as the command needs; empty: it is no smaller then."""
        missing = self.at_least - len(piece)
        if missing <= 0:
            return piece
        proven = self.proven
        well = [
            node for node in self.nodes if node in proven and node not in piece and not self._blamed(node)
        ]
        # Those outside the set that fails first: they cannot be a part of its fault.
        well.sort(key=lambda node: node in core)
        well += [node for node in core if node not in piece and node not in proven]
        full = (*piece, *well[:missing])
        known_well = set(full) - set(piece) <= proven
        return full if len(full) >= self.at_least and (known_well or len(full) < len(core)) else ()

    def _first_failing(self, sets: Sequence[Nodes]) -> Generator[list[Nodes], list[Outcome], Nodes]:
        """The first of the sets that fails; empty: none does."""
        waiting = list(sets)
        while waiting:
            wave = _disjoint(waiting)
            waiting = [one for one in waiting if one not in wave]
            yield from self._run([one for one in wave if self._end(one) is None])
            for nodes in wave:
                if self._end(nodes) is Outcome.FAIL:
                    if not self.smallest or len(nodes) < len(self.smallest):
                        self.smallest = nodes
                    return nodes
        return ()

    def _end(self, nodes: Nodes) -> Outcome | None:
        return self._known.get(frozenset(nodes))

    def _run(self, sets: list[Nodes]) -> Asking:
        for _ in range(MAX_TRIES):
            if not sets:
                return
            ends = yield sets
            self._known |= {
                frozenset(nodes): end
                for nodes, end in zip(sets, ends, strict=True)
                if end is not Outcome.UNABLE
            }
            sets = [nodes for nodes, end in zip(sets, ends, strict=True) if end is Outcome.UNABLE]
        if sets:
            raise Undecided(f"could not be run on {', '.join(sets[0])}")


def _pieces(nodes: Nodes, parts: int) -> list[Nodes]:
    cuts = [len(nodes) * i // parts for i in range(parts + 1)]
    return [nodes[first:end] for first, end in itertools.pairwise(cuts)]


def _disjoint(sets: Sequence[Nodes]) -> list[Nodes]:
    """As many of them, from the first, as share no node."""
    taken: set[str] = set()
    wave = []
    for one in sets:
        if not taken & set(one):
            taken |= set(one)
            wave.append(one)
    return wave
