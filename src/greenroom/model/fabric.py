"""Tests of nodes together: one trial, and what a campaign of them says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from greenroom.model.results import Json
from greenroom.model.words import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One test on some nodes at once."""

    nodes: tuple[str, ...]
    outcome: Outcome
    """Pass, fail, or unable: it could not be made."""
    round: int
    """From 1; trials of one round run at the same time."""
    level: str = ""
    """``inside`` a rack, ``across`` racks; empty: no topology is known."""
    rail: str = ""
    """The network adapter that was forced; empty: whatever the library takes."""
    why: str = ""
    culprits: tuple[str, ...] = ()
    """Unable: those of the nodes that were the reason, if that is known."""
    measured: Mapping[str, object] = field(default_factory=dict)
    """Figures with units in the names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """One culprit."""

    what: str
    """``node``, ``path`` (the way to other racks), ``adapter`` (of a node), ``rail`` (of all nodes)."""
    name: str
    """Node; ``rack r7``; empty for a rail."""
    confidence: float
    """Chance that it is bad, by the rates of the rules, 0 to 1."""
    reason: str
    rail: str = ""
    """Where it is so over one adapter only."""
    failed_with: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a campaign says."""

    blamed: tuple[Blame, ...] = ()
    cleared: tuple[str, ...] = ()
    undecided: Mapping[str, str] = field(default_factory=dict)
    """Node -> why nothing can be said."""
    shared: str = ""
    """Not empty: why one cause for many is likelier than many bad nodes; then no node is blamed."""
    rounds: int = 0
    runs: int = 0
    detail: Json = field(default_factory=dict)
