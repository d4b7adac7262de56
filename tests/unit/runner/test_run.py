from __future__ import annotations

import json

import pytest

from greenroom.checks.expectations import ExpectedWrong
from greenroom.checks.frame import load_all
from greenroom.model.jsonish import from_json, to_json
from greenroom.model.results import Report
from greenroom.model.words import Verdict
from greenroom.probes.host import ProbeUnavailable
from greenroom.probes.nvml import Driver, Gpu, GpuFacts
from greenroom.probes.recorded import RecordedHost
from greenroom.runner.profiles import PROFILES
from greenroom.runner.run import Progress, Wish, longest_s, run_checks

COUNT = ["gpu_count.all_answer"]


def host(*, gpus: int = 2, on_bus: int = 0, driver: Driver = Driver.OK) -> RecordedHost:
    """A machine whose driver answers for some GPUs and whose bus shows some, a NIC and a sound card."""
    devices = [("0x10de", "0x030200")] * on_bus + [("0x15b3", "0x020000"), ("0x10de", "0x040300")]
    files = {"/proc/sys/kernel/random/boot_id": "boot-1\n", "/etc/machine-id": "m1\n"}
    for number, (vendor, kind) in enumerate(devices):
        files[f"/sys/bus/pci/devices/0000:0{number}:00.0/vendor"] = f"{vendor}\n"
        files[f"/sys/bus/pci/devices/0000:0{number}:00.0/class"] = f"{kind}\n"
    listed = tuple(Gpu(index=i, serial=f"s{i}", name="Some GPU") for i in range(gpus))
    facts = GpuFacts(driver=driver, gpus=listed if driver is Driver.OK else ())
    return RecordedHost(files=files, commands={"/": json.dumps(to_json(facts))}, clock=123.0)


@pytest.mark.parametrize(
    ("machine", "told", "verdict"),
    [
        (host(gpus=2, on_bus=2), None, Verdict.UNDECIDED),  # nobody declared it
        (host(gpus=1, on_bus=2), None, Verdict.UNFIT),
        (host(gpus=2), 2, Verdict.FIT),
        (host(gpus=1), 2, Verdict.UNFIT),
        (host(gpus=0), 2, Verdict.UNFIT),
        (host(gpus=0, on_bus=0), None, Verdict.UNDECIDED),  # nothing looked at
        (host(gpus=0, on_bus=2, driver=Driver.HUNG), None, Verdict.UNDECIDED),
    ],
)
def test_how_many_gpus_there_should_be(machine, told, verdict):
    report = run_checks(Wish(node="n1", expect_gpus=told, only=COUNT), machine)
    assert report.verdict is verdict


def test_report_is_whole_and_travels():
    report = run_checks(Wish(node="n1", run_id="r1", profile="quick"), host(on_bus=2))
    assert from_json(Report, json.loads(json.dumps(to_json(report)))) == report
    assert (report.run_id, report.node, report.profile, report.started_at) == ("r1", "n1", "quick", 123.0)
    assert (report.identity.boot_id, report.identity.machine, report.identity.gpus) == (
        "boot-1",
        "m1",
        ("s0", "s1"),
    )
    assert report.version
    assert {result.check for result in report.results} | set(report.left_out) == set(load_all())


def test_wrong_expectations_are_said_before_anything_is_asked(tmp_path):
    site = tmp_path / "site.toml"
    site.write_text("[gpu]\nx = 1\n")
    machine = host()
    with pytest.raises(ExpectedWrong):
        run_checks(Wish(node="n1", expected_file=site), machine)
    assert machine.ran == []


def test_progress_is_told_and_closed_also_after_a_failure():
    told = []

    class Tell(Progress):
        def planned(self, plan):
            told.append(len(plan.steps))

        def started(self, step):
            told.append(step.check.name)
            raise ProbeUnavailable

        def closed(self):
            told.append("closed")

    with pytest.raises(ProbeUnavailable):
        run_checks(Wish(node="n1", only=COUNT), host(), progress=Tell())
    assert told == [1, *COUNT, "closed"]


@pytest.mark.parametrize("profile", PROFILES.values())
def test_those_who_wait_are_told_how_long(profile):
    assert profile.budget_s < profile.limit_s < longest_s(profile)
