"""What healthy nodes have in common: expectations learned from their reports, never from a sick one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from statistics import median
from typing import Any

from greenroom.checks.expectations import Expected, Threshold
from greenroom.model.results import Report
from greenroom.model.words import Outcome, Verdict

MIN_NODES = 8
"""Own choice: with fewer, one slow node moves the median absolute deviation by half."""
MADS = 4.0
"""Limit = median -/+ so many scaled median absolute deviations: 1 in 30,000 of a normal distribution."""
SCALE = 1.4826
"""Makes the median absolute deviation of a normal distribution its standard deviation."""
SAME_SHARE = 0.9
"""Own choice: of the nodes, so many must agree on a value that cannot be averaged."""
LEARNED = {"gpu_model.known", "gpu_count.all_answer"}
"""The checks that may be unable: what they lack is what is being learned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """A threshold as the nodes have it."""

    threshold: Threshold
    odd: tuple[str, ...] = ()
    """Nodes that have another value: look at them first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What a group of nodes teaches."""

    nodes: tuple[str, ...]
    learned: tuple[Learned, ...]
    refused: Mapping[str, str]
    """Threshold -> why nothing is said of it."""
    left_out: Mapping[str, str]
    """Node -> why it does not count."""


class TooFew(ValueError):
    """Not enough healthy nodes; the text says how many there are and how many it takes."""


def learn(reports: Iterable[Report], declared: Expected, *, day: str, min_nodes: int = MIN_NODES) -> Lesson:
    """Learn from the healthy ones of these reports, a node each, all of one kind of machine.

    Raises:
        TooFew: fewer than ``min_nodes`` are healthy.
    """
    healthy: dict[str, dict[str, Any]] = {}
    left_out: dict[str, str] = {}
    for report in reports:
        if why := _why_not(report):
            left_out[report.node] = why
        else:
            healthy[report.node] = dict(readings(report))
    if len(healthy) < min_nodes:
        others = "".join(f"; {node}: {why}" for node, why in list(left_out.items())[:5])
        raise TooFew(f"{len(healthy)} healthy nodes, it takes {min_nodes}{others}")
    learned, refused = [], {}
    for threshold in declared.thresholds.values():
        if threshold.seen:
            values = {node: own for node, seen in healthy.items() if (own := _own(seen, threshold.seen))}
            answer = _teach(threshold, values, day=day, min_nodes=min_nodes)
            if isinstance(answer, str):
                refused[threshold.name] = answer
            else:
                learned.append(answer)
    return Lesson(nodes=tuple(healthy), learned=tuple(learned), refused=refused, left_out=left_out)


def readings(report: Report) -> Iterable[tuple[str, Any]]:
    """``check:path.of.reading`` -> value, of all that the checks of a report have seen."""
    for result in report.results:
        yield from _flat(f"{result.check}:", result.looked)


def _flat(name: str, value: object) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(f"{name}{key}" if name.endswith(":") else f"{name}.{key}", inner)
    else:
        yield name, value


def _why_not(report: Report) -> str:
    unable = {result.check for result in report.results if result.outcome is Outcome.UNABLE}
    if report.verdict is Verdict.UNFIT or (report.verdict is Verdict.UNDECIDED and unable - LEARNED):
        return report.verdict.value
    return ""


def _own(seen: Mapping[str, Any], pattern: str) -> list[Any]:
    path, equals, wanted = pattern.partition("=")
    fits = {name: value for name, value in seen.items() if value is not None and fnmatchcase(name, path)}
    if not equals:
        return list(fits.values())
    head, _, tail = path.partition("*")
    return [name.removeprefix(head).removesuffix(tail) for name, value in fits.items() if value == wanted]


def _teach(
    threshold: Threshold, values: Mapping[str, Sequence[Any]], *, day: str, min_nodes: int
) -> Learned | str:
    """The threshold with its new value, or why there is none."""
    if len(values) < min_nodes:
        return f"{len(values)} nodes report it, it takes {min_nodes}"
    try:
        if threshold.kind == "number":
            return _spread(threshold, values, day)
        if threshold.kind == "texts":
            return _common(threshold, values, day)
        return _same(threshold, values, day)
    except ValueError as error:
        return f"not a {threshold.kind}: {error}"


def _spread(threshold: Threshold, values: Mapping[str, Sequence[Any]], day: str) -> Learned | str:
    """Each node counts by its worst part."""
    low = threshold.name.endswith("_min")
    told = {node: [float(one) for one in own if not low or float(one) > 0] for node, own in values.items()}
    worst = {node: (min if low else max)(own) for node, own in told.items() if own}  # -1: speed not known
    if not worst:
        return "no node reports a value above 0"
    middle = median(worst.values())
    sigma = SCALE * median(abs(value - middle) for value in worst.values())
    margin = max(MADS * sigma, threshold.margin * abs(middle))
    limit = middle - margin if low else middle + margin
    if low and limit <= 0:
        return f"the nodes differ too much: median {middle:g}, scaled deviation {sigma:g}"
    odd = tuple(sorted(node for node, value in worst.items() if (value < limit if low else value > limit)))
    how = f"median {'-' if low else '+'} {MADS:g} scaled median deviations, at least {threshold.margin:.0%}"
    learned = replace(
        threshold,
        value=_round(limit),
        typical=_round(middle),
        method=how,
        nodes=len(worst),
        source=_source(day),
    )
    return Learned(threshold=learned, odd=odd)


def _same(threshold: Threshold, values: Mapping[str, Sequence[Any]], day: str) -> Learned | str:
    own = {
        node: _typed(threshold, min(seen, key=str) if _one(seen) else None) for node, seen in values.items()
    }
    if threshold.kind == "count" and threshold.name.endswith("_min"):
        own = {node: min(int(value) for value in seen) for node, seen in values.items()}
    counts = Counter(value for value in own.values() if value is not None)
    value, count = counts.most_common(1)[0] if counts else (None, 0)
    if value is None or count / len(own) < SAME_SHARE:
        told = ", ".join(f"{value} on {count}" for value, count in counts.most_common(4))
        return f"the nodes do not agree: {told or 'the parts of a node differ'}"
    how = f"the same on {count} of {len(own)} nodes"
    odd = tuple(sorted(node for node, other in own.items() if other != value))
    learned = replace(threshold, value=value, typical=value, method=how, nodes=len(own), source=_source(day))
    return Learned(threshold=learned, odd=odd)


def _common(threshold: Threshold, values: Mapping[str, Sequence[str]], day: str) -> Learned | str:
    counts = Counter(name for seen in values.values() for name in set(seen))
    names = sorted(name for name, count in counts.items() if count / len(values) >= SAME_SHARE)
    if not names:
        return "no name is common to the nodes"
    how = f"on at least {SAME_SHARE:.0%} of {len(values)} nodes"
    odd = tuple(sorted(node for node, seen in values.items() if set(names) - set(seen)))
    learned = replace(
        threshold, value=names, typical=names, method=how, nodes=len(values), source=_source(day)
    )
    return Learned(threshold=learned, odd=odd)


def _one(seen: Sequence[Any]) -> bool:
    return len(set(map(str, seen))) == 1


def _typed(threshold: Threshold, value: object) -> Any:  # noqa: ANN401 - a TOML value
    if value is None or threshold.kind == "text":
        return value
    if threshold.kind == "yes-no":
        return str(value).lower() in ("true", "1", "yes")
    return int(str(value))


def _source(day: str) -> str:
    return f"greenroom expect learn, {day}"


def _round(value: float) -> float:
    """Four digits: more than the nodes agree on would be a fable."""
    return float(f"{value:.4g}")
