"""Middle values, without the standard library's ``statistics``, whose import costs more than most checks."""

from __future__ import annotations

from collections.abc import Iterable


def median(values: Iterable[float]) -> float:
    """The middle value, or the mean of the two in the middle.

    Raises:
        ValueError: there are no values.
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no median of no values")
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def spread(values: Iterable[float]) -> float:
    """The median distance from the median (MAD), in the unit of the values.

    Raises:
        ValueError: there are no values.
    """
    known = list(values)
    middle = median(known)
    return median(abs(value - middle) for value in known)
