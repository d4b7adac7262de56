"""Nodes beside their like: who is slower than its fellows, whose results differ from theirs. Pure.

Speed is judged by the modified z-score (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993), on
the slow side only: faster is not a fault. Results must be equal bit by bit. Figures that were measured in
another way (GPU, size, ranks, engine, versions) are never compared.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from greenroom.model.figures import median, spread

Looked = Mapping[str, Any]
"""What one stress check saw: ``figures``, ``digests``, ``comparable``."""
MIN_NODES = 10
"""Of fewer nodes the usual spread is not known."""
MIN_ALIKE = 3
"""Of two nodes whose results differ, neither is the wrong one."""
MAX_Z = 3.5
"""Iglewicz and Hoaglin's limit."""
TO_SIGMA = 0.6745
"""MAD of a normal distribution, in standard deviations."""
MEAN_TO_SIGMA = 0.7979
"""The same of the mean distance from the median, where most values are equal and the MAD is 0."""
LEAST_SHORTFALL = 0.03
"""Own choice: closer to the usual figure than this is noise, however alike the others are."""
LESS_IS_BETTER = ("_us", "_ms", "_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlier:
    """A node that is slow beside its like, or computes something else."""

    node: str
    check: str
    figure: str
    """Name with its unit; of results: the precision."""
    part: str
    """The GPU, link or drive; the slowest of the node."""
    measured: str
    usual: str
    among: int
    """Nodes that it was compared with, itself among them."""
    z: float | None = None
    """Modified z-score, standard deviations; None: results that differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the fleet says of its nodes."""

    outliers: tuple[Outlier, ...] = ()
    compared: Mapping[str, int] = field(default_factory=dict)
    """``check: how it was measured`` -> nodes."""
    not_compared: Mapping[str, str] = field(default_factory=dict)
    """``check: how it was measured`` -> why not."""


def judge_fleet(nodes: Mapping[str, Mapping[str, Looked]]) -> Judged:
    """Node -> check -> what it saw."""
    kinds: dict[tuple[str, str], dict[str, Looked]] = defaultdict(dict)
    for node, checks in nodes.items():
        for check, looked in checks.items():
            if kind := looked.get("comparable"):
                kinds[check, str(kind)][node] = looked
    found: list[Outlier] = []
    compared, not_compared = {}, {}
    for (check, kind), alike in sorted(kinds.items()):
        found += _wrong(check, alike)
        if len(alike) < MIN_NODES:
            not_compared[f"{check}: {kind}"] = f"{len(alike)} nodes alike, {MIN_NODES} are needed"
            continue
        compared[f"{check}: {kind}"] = len(alike)
        found += _slow(check, alike)
    return Judged(outliers=tuple(found), compared=compared, not_compared=not_compared)


def modified_z(values: Mapping[str, float]) -> dict[str, float]:
    """Distance of each from the median, in standard deviations of the usual ones; 0 if all are alike."""
    middle, mad = median(values.values()), spread(values.values())
    sigma = mad / TO_SIGMA
    if not mad:
        sigma = sum(abs(value - middle) for value in values.values()) / len(values) / MEAN_TO_SIGMA
    return {name: (value - middle) / sigma if sigma else 0.0 for name, value in values.items()}


def _slow(check: str, alike: Mapping[str, Looked]) -> Iterator[Outlier]:
    for figure in sorted({name for looked in alike.values() for name in looked.get("figures", {})}):
        less = figure.endswith(LESS_IS_BETTER) and not figure.endswith("per_s")
        worst: dict[str, tuple[float, str]] = {}
        for node, looked in alike.items():
            if parts := looked.get("figures", {}).get(figure):
                worst[node] = (max if less else min)((float(value), part) for part, value in parts.items())
        if len(worst) < MIN_NODES:
            continue
        values = {node: value for node, (value, _) in worst.items()}
        usual = median(values.values())
        for node, z in modified_z(values).items():
            behind = (values[node] - usual if less else usual - values[node]) / usual if usual else 0.0
            if (z if less else -z) > MAX_Z and behind > LEAST_SHORTFALL:
                yield Outlier(
                    node=node,
                    check=check,
                    figure=figure,
                    part=worst[node][1],
                    measured=f"{values[node]:.4g}",
                    usual=f"{usual:.4g}",
                    among=len(worst),
                    z=round(z, 1),
                )


def _wrong(check: str, alike: Mapping[str, Looked]) -> Iterator[Outlier]:
    """Nodes whose results are not those of more than half."""
    for precision in sorted({name for looked in alike.values() for name in looked.get("digests", {})}):
        said = {
            node: parts
            for node, looked in alike.items()
            if (parts := looked.get("digests", {}).get(precision))
        }
        votes = Counter(
            next(iter(parts.values())) for parts in said.values() if len(set(parts.values())) == 1
        )
        usual, count = max(votes.items(), key=lambda one: one[1], default=("", 0))
        if len(said) < MIN_ALIKE or 2 * count <= len(said):
            continue
        for node, parts in said.items():
            for part, digest in parts.items():
                if digest != usual:
                    yield Outlier(
                        node=node,
                        check=check,
                        figure=precision,
                        part=part,
                        measured=str(digest),
                        usual=usual,
                        among=len(said),
                    )
