from __future__ import annotations

import dataclasses
import time

import pytest

from greenroom.checks.expectations import load_expected
from greenroom.checks.frame import Facts, Looked, NotApplicable, found, load_all
from greenroom.model.words import Outcome
from greenroom.probes.host import ProbeUnavailable
from greenroom.probes.isolation import CallBug
from greenroom.probes.nvml import Driver, GpuFacts
from greenroom.probes.recorded import RecordedHost
from greenroom.runner.execute import execute
from greenroom.runner.plan import Planned

FACTS = Facts(gpus=GpuFacts(driver=Driver.OK))


def run(function, *, deadline_s: float = 5.0, left_s: float = 60.0, name: str = "gpu_memory.ecc"):
    check = dataclasses.replace(load_all()[name], function=function)
    step = Planned(check=check, load_s=0.0, deadline_s=deadline_s)
    return execute(step, facts=FACTS, host=RecordedHost(), expected=load_expected(), left_s=left_s)


def unavailable(*_):
    raise ProbeUnavailable("no tool")


FINDING = found("gpu.lost", subject="gpu0", message="m")


@pytest.mark.parametrize(
    ("function", "outcome", "reason"),
    [
        (lambda *_: Looked(looked={"gpus": 1}), Outcome.PASS, ""),
        (lambda *_: Looked(looked={"gpus": 1}, findings=(FINDING,)), Outcome.FAIL, ""),
        (lambda *_: Looked(looked={}), Outcome.UNABLE, "it looked at nothing"),
        (lambda *_: NotApplicable("no GPU"), Outcome.SKIPPED, "no GPU"),
        (unavailable, Outcome.UNABLE, "no tool"),
    ],
)
def test_outcomes(function, outcome, reason):
    result = run(function)
    assert (result.outcome, result.reason) == (outcome, reason)
    assert result.seconds >= 0


def test_thresholds_are_stamped_with_their_sources():
    result = run(lambda *_: Looked(looked={"gpus": 1}))
    assert result.thresholds["gpu.ecc_volatile_uncorrected_max"]["value"] == 0
    assert result.thresholds["gpu.ecc_volatile_uncorrected_max"]["source"]


def test_a_check_that_hangs_is_ended_and_unable():
    started = time.monotonic()
    result = run(lambda *_: time.sleep(60), deadline_s=0.3)
    assert result.outcome is Outcome.UNABLE
    assert "not back" in result.reason
    assert time.monotonic() - started < 5


def test_no_time_left_is_unable():
    result = run(lambda *_: Looked(looked={"a": 1}), left_s=-1)
    assert (result.outcome, result.reason) == (Outcome.UNABLE, "the time of the run was used up before it")


def test_a_bug_is_never_a_verdict():
    with pytest.raises(CallBug):
        run(lambda *_: {}["x"])


def test_a_threshold_that_was_not_declared_is_a_bug():
    with pytest.raises(CallBug, match=r"disk\.paths"):
        run(lambda facts, host, expected: expected["disk.paths"])
