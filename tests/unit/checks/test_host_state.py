from __future__ import annotations

import pytest
from healthy import ask, codes, expect

from greenroom.checks.frame import NotApplicable
from greenroom.probes.host import ProbeUnavailable, Ran
from greenroom.probes.recorded import RecordedHost

EDAC = "/sys/devices/system/edac/mc/mc0"
CPU = "/sys/devices/system/cpu"


def host(files, **commands):
    return RecordedHost(files=files, commands=commands)


def ran(rc=0, stdout=""):
    return Ran(argv=(), rc=rc, stdout=stdout, stderr="", seconds=0.0)


@pytest.mark.parametrize(
    "check",
    [
        "memory.edac", "processor.governor", "processor.numa", "kernel.modules", "kernel.cmdline", "kernel.sysctl",
        "limits.memlock", "services.active", "names.resolve", "infiniband.ports",
    ],
)  # fmt: skip
def test_nothing_there_and_nothing_expected_is_skipped(check):
    assert isinstance(ask(check, host=host({})), NotApplicable)


@pytest.mark.parametrize(
    ("check", "wanted"),
    [
        ("processor.count", {}),
        ("kernel.modules", {"kernel__modules": ["x"]}),
        ("kernel.cmdline", {"kernel__cmdline": ["x"]}),
        ("kernel.sysctl", {"kernel__sysctl": ["a.b=1"]}),
        ("limits.memlock", {"limits__memlock_kib_min": 1}),
        ("services.active", {"services__active": ["munge"]}),
        ("names.resolve", {"names__resolve": ["ctl"]}),
    ],
)
def test_what_cannot_be_read_is_no_pass(check, wanted):
    with pytest.raises(ProbeUnavailable):
        ask(check, host=host({}), expected=expect(**wanted))


def test_a_module_built_into_the_kernel_is_there():
    there = host({"/proc/modules": "", "/sys/module/ib_core/uevent": ""})
    assert codes(ask("kernel.modules", host=there, expected=expect(kernel__modules=["ib_core"]))) == []


def test_services_without_systemd_are_unable():
    answer = ran(1, "System has not been booted with systemd\n")
    with pytest.raises(ProbeUnavailable, match="expected 1 states"):
        ask("services.active", host=host({}, systemctl=answer), expected=expect(services__active=["munge"]))


def test_names_nobody_answers_for_are_unable():
    with pytest.raises(ProbeUnavailable, match="getent"):
        ask("names.resolve", host=host({}, getent=ran(1)), expected=expect(names__resolve=["ctl"]))


def stat(pid, state, name="python3"):
    return {f"/proc/{pid}/stat": f"{pid} ({name}) {state} 1 1 1\n"}


def many(state, count):
    return {path: text for pid in range(1, count + 1) for path, text in stat(pid, state).items()}


def test_a_process_that_only_waits_in_passing_is_not_stuck():
    class Passing(RecordedHost):
        looks = 0

        def read(self, path):
            self.looks += 1
            return super().read(path).replace(" D ", " D " if self.looks <= 40 else " S ")

    assert codes(ask("processes.stuck", host=Passing(files=many("D", 40)))) == []


def test_names_of_processes_may_hold_anything():
    files = stat(7, "D", name="a) b (c") | stat(8, "S")
    answer = ask("processes.stuck", host=host(files), expected=expect(processes__uninterruptible_max=0))
    assert answer.findings[0].message == "1 processes, e.g. a) b (c (pid 7)"


def test_a_port_without_a_link_tells_nothing_that_could_be_learnt():
    port = "/sys/class/infiniband/mlx5_1/ports/1"
    down = {
        "state": "1: DOWN",
        "phys_state": "3: Disabled",
        "rate": "40 Gb/sec (4X QDR)",
        "link_layer": "Ethernet",
    }
    there = host({f"{port}/{name}": text for name, text in down.items()})
    row = ask("infiniband.ports", host=there).looked["mlx5_1/1"]
    assert (row["rate_gbps"], row["lanes"], row["layer"]) == (None, None, None)
