from __future__ import annotations

import pytest
from cases_dcgm import diag, failed, result
from healthy import ask, expect, gpus

from greenroom import faults
from greenroom.checks.frame import Looked, NotApplicable, load_all
from greenroom.probes.host import ProbeUnavailable, Ran
from greenroom.probes.nvml import Driver
from greenroom.probes.recorded import RecordedHost


def test_the_check_finds_the_family_of_the_catalogue():
    assert load_all()["dcgm.diag"].detects == faults.codes("dcgm") - {"dcgm.health"}


@pytest.mark.parametrize(("load_s", "level"), [(12, "1"), (120, "2"), (2880, "3"), (7200, "4")])
def test_the_level_follows_from_the_time(load_s, level):
    host = diag(result())
    assert ask("dcgm.diag", host=host, load_s=load_s).looked["level"] == int(level)
    assert host.ran == [("dcgmi", "diag", "-r", level, "-j")]


def test_a_finding_names_the_gpu_and_all_entities_count():
    answer = ask("dcgm.diag", host=diag(result(0), result(1), failed(42)))
    assert [finding.subject for finding in answer.findings] == ["gpu2"]


def test_skipped_is_not_passed():
    answer = ask("dcgm.diag", host=diag(result(0), result(1, "Skip")))
    assert isinstance(answer, Looked)
    assert (answer.looked["passed"], answer.looked["not_run"]) == (1, ["memory"])
    with pytest.raises(ProbeUnavailable):
        ask("dcgm.diag", host=diag(result(0, "Skip"), result(1, "Skip")))


@pytest.mark.parametrize(
    ("host", "says"),
    [
        (diag(runtime_error="Error: the nv-hostengine is not running"), "not running"),
        (diag(result(), runtime_error="GPU 3 is busy"), "busy"),
        (RecordedHost(commands={"dcgmi": Ran(argv=(), rc=255, stdout="", stderr="Error: unable to connect", seconds=0)}), "unable to connect"),
        (RecordedHost(commands={"dcgmi": "{ cut"}), "cut"),
        (RecordedHost(commands={"dcgmi": ProbeUnavailable("dcgmi: not back after 120 s, killed")}), "not back"),
    ],
)  # fmt: skip
def test_a_diagnostic_that_could_not_run_says_nothing_of_the_gpus(host, says):
    with pytest.raises(ProbeUnavailable, match=says):
        ask("dcgm.diag", host=host)


def test_trouble_does_not_hide_a_fault():
    answer = ask("dcgm.diag", host=diag(failed(42), runtime_error="GPU 3 is busy"))
    assert [finding.code for finding in answer.findings] == ["dcgm.42"]


def test_not_installed_or_no_gpus():
    assert isinstance(ask("dcgm.diag", host=RecordedHost()), NotApplicable)
    none = gpus(driver=Driver.LIBRARY_MISSING)
    assert isinstance(ask("dcgm.diag", facts=none, expected=expect(gpu__count=None)), NotApplicable)
