"""Write a machine down: all that the checks of a profile ask of it, and a walk through the rest."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from greenroom import __version__
from greenroom.checks.expectations import Expected, load_expected
from greenroom.checks.frame import Check, Facts, load_all
from greenroom.probes.gpus import on_bus, read_gpus
from greenroom.probes.host import Host, ProbeUnavailable
from greenroom.probes.identity import read_identity
from greenroom.probes.isolation import CallBug, call_isolated
from greenroom.probes.recording import Anonymiser, RecordingHost, Tape
from greenroom.probes.walk import walk
from greenroom.runner.run import NVML_LIMIT_S

PIECE_LIMIT_S = 120.0


def record(host: Host, *, profile: str, anonymise: bool) -> Tape:
    """The tape. A piece that hangs is left out after its deadline; what answered stays."""
    base = RecordingHost(host)
    seen = on_bus(base)
    gpus = read_gpus(base, seen, timeout_s=NVML_LIMIT_S)
    read_identity(base, gpus)
    facts = Facts(gpus=gpus, gpus_on_bus=seen[gpus.vendor], load_s=0.0)
    expected = load_expected(gpu_names=[gpu.name for gpu in gpus.gpus if gpu.name])

    checks = [check for check in load_all().values() if profile in check.profiles and not check.load_share]
    pieces: list[Callable[[], Tape]] = [partial(_look_around, host)]
    pieces += [partial(_ask, check, facts, host, expected.only(check.expects)) for check in checks]
    for piece in pieces:
        with contextlib.suppress(ProbeUnavailable, CallBug):
            base.tape.add(call_isolated(piece, timeout_s=PIECE_LIMIT_S))
    tape = replace(base.tape, version=__version__)
    name = os.uname().nodename
    return Anonymiser(name, name.split(".")[0]).tape(tape) if anonymise else tape


def _ask(check: Check, facts: Facts, host: Host, expected: Expected) -> Tape:
    recorder = RecordingHost(host)
    with contextlib.suppress(ProbeUnavailable):
        check.function(facts, recorder, expected)
    return recorder.tape


def _look_around(host: Host) -> Tape:
    recorder = RecordingHost(host)
    walk(recorder)
    return recorder.tape
