"""A join storm: 2,000 nodes in the memory scheduler, decided, checked and admitted.

Prints nodes/s and peak RSS for the memory store and for SQLite, and as ratios to encoding the same
states once as JSON (so that a slower machine gives the same figures). Usage: storm.py [nodes]
"""

from __future__ import annotations

import json
import logging
import resource
import sys
import tempfile
import time
from pathlib import Path

import structlog

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))

from greenroom.model.jsonish import to_json  # noqa: E402
from greenroom.model.words import Phase  # noqa: E402
from greenroom.store import open_store  # noqa: E402
from stories.cluster import Story  # noqa: E402 - after the path is set


def storm(nodes: int, url: str) -> tuple[float, int, float]:
    """(seconds until all are in service, cycles, slowest cycle in s)."""
    store = open_store(url)
    story = Story(store=store)
    story.join(*[f"gpu-{index:04d}" for index in range(nodes)])
    started, cycles, slowest = time.perf_counter(), 0, 0.0
    while len(story.free()) < nodes:
        begun = time.perf_counter()
        story.turn()
        slowest = max(slowest, time.perf_counter() - begun)
        cycles += 1
        assert cycles < 50, "the storm does not end"
    took = time.perf_counter() - started
    assert all(state.phase is Phase.IN_SERVICE for state in store.states())
    story.turn()
    begun = time.perf_counter()
    story.turn()
    idle = time.perf_counter() - begun
    yardstick = time.perf_counter()
    for state in store.states():
        json.dumps(to_json(state))
    yardstick = time.perf_counter() - yardstick
    store.close()
    print(
        f"{url.split(':', 1)[0]:8} {nodes} nodes in {took:6.2f} s {nodes / took:7.0f}/s, {cycles} cycles,"
        f" slowest {slowest:5.2f} s, idle {idle:5.2f} s  = {took / yardstick:4.0f} x encoding all states"
    )
    return took, cycles, slowest


def main() -> None:
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    for repeat in range(3):
        with tempfile.TemporaryDirectory() as folder:
            storm(nodes, "memory:")
            storm(nodes, f"sqlite:///{folder}/storm.db")
        print(
            f"run {repeat + 1}: peak RSS {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
        )


if __name__ == "__main__":
    main()
