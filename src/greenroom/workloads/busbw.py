"""Bandwidth of collectives as nccl-tests defines it (its doc/PERFORMANCE.md). No PyTorch here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

FACTORS: Mapping[str, Callable[[int], float]] = {
    "all_reduce": lambda ranks: 2 * (ranks - 1) / ranks,
    "all_gather": lambda ranks: (ranks - 1) / ranks,
    "reduce_scatter": lambda ranks: (ranks - 1) / ranks,
    "all_to_all": lambda ranks: (ranks - 1) / ranks,
    "broadcast": lambda _: 1.0,
}
"""Operation -> bus bandwidth / algorithm bandwidth, for so many ranks."""


def busbw_gb_per_s(operation: str, size_bytes: int, seconds: float, ranks: int) -> float:
    """Bus bandwidth, GB/s (10^9 bytes). ``size_bytes``: of the larger buffer, as nccl-tests counts it.

    Raises:
        ValueError: with one rank nothing goes over a bus; nccl-tests prints 0 there, which is no reading.
    """
    if ranks < 2:
        raise ValueError("one rank has no bus bandwidth")
    return size_bytes / seconds / 1e9 * FACTORS[operation](ranks)
