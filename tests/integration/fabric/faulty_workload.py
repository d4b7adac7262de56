"""The workload as a node with a broken GPU would run it: one bit of what it sends is wrong."""

from __future__ import annotations

import sys

from greenroom.workloads import collective
from greenroom.workloads.__main__ import main

right = collective._Rank._pattern


def _pattern(self, rank, count):
    values = right(self, rank, count)
    if rank == self.rank:
        values[count // 3] += 1
    return values


collective._Rank._pattern = _pattern
sys.exit(main(sys.argv[1:]))
