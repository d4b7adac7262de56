from __future__ import annotations

import pytest
from healthy import ask, codes, expect

from greenroom.checks.frame import NotApplicable
from greenroom.probes.host import ProbeUnavailable, Ran
from greenroom.probes.recorded import RecordedHost

EDAC = "/sys/devices/system/edac/mc/mc0"
CPU = "/sys/devices/system/cpu"
IB = "/sys/class/infiniband"


def host(files, **commands):
    return RecordedHost(files=files, commands=commands)


def ran(rc=0, stdout=""):
    return Ran(argv=(), rc=rc, stdout=stdout, stderr="", seconds=0.0)


# Check, expectations, files of a good machine, of a bad one, what is found there.
PAIRS = {
    "memory.edac uncorrectable": (
        "memory.edac",
        {},
        {f"{EDAC}/ue_count": "0\n", f"{EDAC}/ce_count": "12\n"},
        {f"{EDAC}/ue_count": "1\n", f"{EDAC}/ce_count": "0\n"},
        ["host.edac.ue"],
    ),
    "memory.edac corrected": (
        "memory.edac",
        {},
        {f"{EDAC}/ue_count": "0\n", f"{EDAC}/ce_count": "4000\n"},
        {f"{EDAC}/ue_count": "0\n", f"{EDAC}/ce_count": "4001\n"},
        ["host.edac.ce"],
    ),
    "processor.count": (
        "processor.count",
        {"processor__count_min": 6},
        {f"{CPU}/online": "0-3,8-9\n", f"{CPU}/present": "0-9\n"},
        {f"{CPU}/online": "0-3,8\n", f"{CPU}/present": "0-9\n"},
        ["host.cpu.offline"],
    ),
    "processor.governor": (
        "processor.governor",
        {"processor__governor": "performance"},
        {f"{CPU}/cpu{i}/cpufreq/scaling_governor": "performance\n" for i in range(2)},
        {
            f"{CPU}/cpu0/cpufreq/scaling_governor": "performance\n",
            f"{CPU}/cpu1/cpufreq/scaling_governor": "powersave\n",
        },
        ["host.cpu.governor"],
    ),
    "processor.numa": (
        "processor.numa",
        {"processor__numa_nodes": 2},
        {f"/sys/devices/system/node/node{i}/cpulist": "0\n" for i in range(2)},
        {"/sys/devices/system/node/node0/cpulist": "0\n"},
        ["host.numa.layout"],
    ),
    "kernel.modules": (
        "kernel.modules",
        {"kernel__modules": ["nvidia-peermem", "ib_core"]},
        {"/proc/modules": "nvidia_peermem 1 0 - Live 0x0\nib_core 1 0 - Live 0x0\n"},
        {"/proc/modules": "ib_core 1 0 - Live 0x0\n"},
        ["host.kernel.module"],
    ),
    "kernel.cmdline": (
        "kernel.cmdline",
        {"kernel__cmdline": ["iommu=pt"]},
        {"/proc/cmdline": "BOOT_IMAGE=/x iommu=pt quiet\n"},
        {"/proc/cmdline": "BOOT_IMAGE=/x iommu=ptx\n"},
        ["host.kernel.cmdline"],
    ),
    "kernel.sysctl": (
        "kernel.sysctl",
        {"kernel__sysctl": ["vm.zone_reclaim_mode=0", "net.ipv4.tcp_rmem=4096 87380 6291456"]},
        {"/proc/sys/vm/zone_reclaim_mode": "0\n", "/proc/sys/net/ipv4/tcp_rmem": "4096\t87380\t6291456\n"},
        {"/proc/sys/vm/zone_reclaim_mode": "1\n", "/proc/sys/net/ipv4/tcp_rmem": "4096\t87380\t6291456\n"},
        ["host.kernel.sysctl"],
    ),
    "limits.memlock": (
        "limits.memlock",
        {"limits__memlock_kib_min": 1024},
        {"/proc/self/limits": "Limit  Soft  Hard  Units\nMax locked memory   unlimited  unlimited  bytes\n"},
        {"/proc/self/limits": "Limit  Soft  Hard  Units\nMax locked memory   65536  65536  bytes\n"},
        ["host.limits.memlock"],
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_good_machine_passes_and_a_bad_one_is_found(name):
    check, wanted, good, bad, found = PAIRS[name]
    assert codes(ask(check, host=host(good), expected=expect(**wanted))) == []
    assert codes(ask(check, host=host(bad), expected=expect(**wanted))) == found


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


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (ran(0, "active\nactive\n"), []),
        (ran(3, "active\nfailed\n"), ["host.service.down"]),
        (ran(3, "inactive\nunknown\n"), ["host.service.down", "host.service.down"]),
    ],
)
def test_services(answer, found):
    wanted = expect(services__active=["munge", "chronyd"])
    assert codes(ask("services.active", host=host({}, systemctl=answer), expected=wanted)) == found


def test_services_without_systemd_are_unable():
    answer = ran(1, "System has not been booted with systemd\n")
    with pytest.raises(ProbeUnavailable, match="expected 1 states"):
        ask("services.active", host=host({}, systemctl=answer), expected=expect(services__active=["munge"]))


@pytest.mark.parametrize(("rc", "found"), [(0, []), (2, ["host.dns"])])
def test_names(rc, found):
    wanted = expect(names__resolve=["ctl"])
    assert codes(ask("names.resolve", host=host({}, getent=ran(rc)), expected=wanted)) == found


def test_names_nobody_answers_for_are_unable():
    with pytest.raises(ProbeUnavailable, match="getent"):
        ask("names.resolve", host=host({}, getent=ran(1)), expected=expect(names__resolve=["ctl"]))


def stat(pid, state, name="python3"):
    return {f"/proc/{pid}/stat": f"{pid} ({name}) {state} 1 1 1\n"}


def many(state, count):
    return {path: text for pid in range(1, count + 1) for path, text in stat(pid, state).items()}


@pytest.mark.parametrize(
    ("state", "count", "found"),
    [
        ("S", 500, []),
        ("D", 32, []),
        ("D", 33, ["host.processes.uninterruptible"]),
        ("Z", 200, []),
        ("Z", 201, ["host.processes.zombies"]),
    ],
)
def test_stuck_processes(state, count, found):
    answer = ask("processes.stuck", host=host(many(state, count)))
    assert codes(answer) == found
    assert answer.looked["processes"] == count


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


def port(name="mlx5_0", *, state="4: ACTIVE", physical="5: LinkUp", rate="400 Gb/sec (4X NDR)"):
    root = f"{IB}/{name}/ports/1"
    return {f"{root}/state": f"{state}\n", f"{root}/phys_state": f"{physical}\n", f"{root}/rate": f"{rate}\n"}


@pytest.mark.parametrize(
    ("files", "wanted", "found"),
    [
        (port(), {"infiniband__ports": ["mlx5_0/1"], "infiniband__rate_gbps_min": 400}, []),
        (port(rate="200 Gb/sec (4X HDR)"), {"infiniband__rate_gbps_min": 400}, ["ib.port.slow"]),
        (port(state="1: DOWN", physical="2: Polling"), {}, []),  # a free port
        (port(state="1: DOWN", physical="2: Polling"), {"infiniband__ports": ["mlx5_0/1"]}, ["ib.port.down"]),
        (port(state="2: INIT"), {"infiniband__ports": ["mlx5_0/1"]}, ["ib.port.down"]),
        (port(), {"infiniband__ports": ["mlx5_0/1", "mlx5_1/1"]}, ["ib.port.down"]),
        ({}, {"infiniband__ports": ["mlx5_0/1"]}, ["ib.port.down"]),
    ],
)
def test_infiniband_ports(files, wanted, found):
    assert codes(ask("infiniband.ports", host=host(files), expected=expect(**wanted))) == found
