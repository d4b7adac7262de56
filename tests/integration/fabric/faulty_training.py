"""The training as a node would run it whose GPU flips a bit of its gradients, or works slowly."""

from __future__ import annotations

import os
import sys
import time

from greenroom.workloads import training
from greenroom.workloads.__main__ import main

FAULT = os.environ.get("FAULT", "flip")
right = training._loss


def flip(gradient):
    """The highest bit of an exponent, in the largest number."""
    wrong = gradient.clone()
    place = int(wrong.abs().argmax())
    wrong.view(-1)[place] *= 4.0
    return wrong


def _loss(torch, model, text, device):
    on_device = device != "cpu"
    if FAULT == "slow" and on_device:
        time.sleep(0.05)
    loss = right(torch, model, text, device)
    if FAULT == "flip" and on_device and not _loss.done:
        next(model.parameters()).register_hook(flip)
        _loss.done = True
    return loss


_loss.done = False
training._loss = _loss
sys.exit(main(sys.argv[1:]))
