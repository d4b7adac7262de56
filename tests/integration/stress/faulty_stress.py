"""The stress as a broken device would run it: a bit flips now and then, always, or in memory."""

from __future__ import annotations

import os
import sys

from greenroom.workloads import gemm, memory
from greenroom.workloads.__main__ import main

FAULT, ON = os.environ.get("FAULT", ""), "cpu1"
init, put = gemm._Product.__init__, memory._Space._put


def flip(torch, tensor, place, bit):
    whole = {2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()]
    tensor.view(whole).view(-1)[place] ^= 1 << bit


def product(self, device, pair, kind):
    """Every product, or each fiftieth, comes out with its last bit but one flipped in one number."""
    init(self, device, pair, kind)
    if device.label != ON:
        return
    right, calls = self.multiply, 0

    def multiply():
        nonlocal calls
        calls += 1
        out = right()
        if FAULT == "always" or (FAULT == "rare" and calls % 50 == 0):
            flip(device.torch, out, 1234, 1)
        return out

    self.multiply = multiply


def stored(self, chunk, value):
    """A cell that cannot hold its bit 42 at 1."""
    put(self, chunk, value)
    if FAULT == "memory" and self.device.label == ON and chunk is self.chunks[0]:
        chunk[77] &= ~(1 << 42)


gemm._Product.__init__ = product
memory._Space._put = stored
sys.exit(main(sys.argv[1:]))
