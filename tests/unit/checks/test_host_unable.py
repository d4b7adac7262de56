"""What the checks of the host say where they cannot look, or have nothing to look at."""

from __future__ import annotations

import pytest
from cases_daemons import CONTAINERD, EVENTS, KUBELET, NOW, SLURM, events, log
from cases_machine import CPU, EDAC, edac, meminfo
from cases_network import BOND, BONDING, IB, LACP, NET, adapter, bond, host, interface, port
from cases_pci import CARD, PCI, aer, device
from cases_storage import DEAD, MOUNTS, drive, mounted, ran, smart
from healthy import ask, codes, expect

from greenroom.checks.frame import NotApplicable, load_all
from greenroom.faults import codes as catalogue
from greenroom.probes.host import ProbeUnavailable, Space
from greenroom.probes.recorded import RecordedHost

MOUNTINFO = "/proc/self/mountinfo"
HUNG = ProbeUnavailable("nvme: not back after 5 s, killed")

# Nothing is here and nothing is expected.
NOTHING = [
    "bmc.events", "bmc.sensors", "bonds.members", "bonds.mtu", "containers.cdi", "containers.runtime", "containers.toolkit",
    "counters.growing", "infiniband.firmware", "infiniband.flaps", "infiniband.pkeys", "kernel.cgroup",
    "kernel.thp", "kernel.version", "kubelet.healthy", "limits.jobs", "memory.hugepages", "memory.modules",
    "memory.swap", "network.count", "network.versions", "nvme.drives", "nvme.smart", "pci.acs", "pci.answering",
    "pci.devices", "pci.errors", "pci.iommu", "pci.links", "processor.affinity", "processor.frequency",
    "processor.microcode", "processor.smt", "slurm.node",
]  # fmt: skip


@pytest.mark.parametrize("check", NOTHING)
def test_nothing_here_and_nothing_expected_is_skipped_with_its_reason(check):
    answer = ask(check, host=RecordedHost())
    assert isinstance(answer, NotApplicable)
    assert answer.reason


@pytest.mark.parametrize("check", ["mounts.answering", "mounts.lustre", "mounts.options"])
def test_no_network_mount_is_skipped(check):
    only_root = MOUNTS.splitlines(keepends=True)[0]
    assert isinstance(ask(check, host=mounted(only_root)), NotApplicable)


# Something is expected and cannot be looked at.
EXPECTED = [
    ("bmc.events", {"bmc__expected": True}, "ipmi0: no such device"),
    ("bmc.sensors", {"bmc__expected": True}, "ipmi0: no such device"),
    ("infiniband.firmware", {"infiniband__firmware": ["1.2"]}, "no device says"),
    ("infiniband.pkeys", {"infiniband__pkeys": ["0x8001"]}, "no active InfiniBand port"),
    ("infiniband.pkeys", {"infiniband__pkeys": ["lots"]}, "expected a number, got 'lots'"),
    ("kernel.cgroup", {"kernel__cgroup": 2}, "/sys/fs/cgroup"),
    ("kernel.taint", {}, "tainted"),
    ("kernel.thp", {"kernel__thp": "never"}, "transparent_hugepage"),
    ("kernel.version", {"kernel__version": "6.8"}, "osrelease"),
    ("kernel_log.host", {}, "/dev/kmsg"),
    ("kubelet.healthy", {"kubelet__expected": True}, "curl: not installed"),
    ("limits.jobs", {"limits__job_min": ["nofile=1"]}, "nofile"),
    ("memory.available", {}, "/proc/meminfo"),
    ("memory.hugepages", {"memory__hugepages_min": 1}, "/proc/meminfo"),
    ("memory.machine_checks", {}, "tainted"),
    ("memory.modules", {"memory__modules": 2}, "neither EDAC nor dmidecode"),
    ("memory.swap", {"memory__swap_off": True}, "/proc/meminfo"),
    ("mounts.answering", {}, MOUNTINFO),
    ("mounts.lustre", {}, MOUNTINFO),
    ("mounts.options", {"filesystem__options": ["/tmp=nosuid"]}, MOUNTINFO),
    ("pci.acs", {"pci__acs_off": True}, "lspci: not installed"),
    ("pci.devices", {"pci__devices": ["10de:2330=8"]}, "no device is shown"),
    ("pci.links", {"pci__links": ["15b3:1021=5x16"]}, "none of the declared"),
    ("processor.affinity", {"processor__affinity": [f"{CARD}=0"]}, "numa_node"),
    ("processor.frequency", {"processor__mhz_min": 3800}, "no frequencies"),
    ("processor.numa", {"processor__numa_distances": ["10"]}, "node0/distance"),
    ("processor.smt", {"processor__smt": True}, "smt/active"),
    ("slurm.node", {"slurm__expected": True}, "hostname"),
]


@pytest.mark.parametrize(("check", "wanted", "says"), EXPECTED)
def test_what_is_expected_and_cannot_be_looked_at_is_unable(check, wanted, says):
    with pytest.raises(ProbeUnavailable, match=says):
        ask(check, host=RecordedHost(), expected=expect(**wanted))


BMC = {"/dev/ipmi0": "", "/proc/uptime": "1 1\n"}
ODD = [
    ("bmc.events", host(BMC, env=ran(rc=1, stderr="Could not open device")), {}, "Could not open device"),
    ("bmc.events", host(BMC, **{"env TZ=UTC ipmitool sel elist": "", "env TZ=UTC ipmitool sel info": "odd"}), {}, "how full"),
    ("bmc.sensors", host(BMC, env="Temp | 04h | ns  |  7.1 | No Reading\n"), {}, "no sensor"),
    ("bmc.sensors", host(BMC), {"bmc__expected": True}, "ipmitool: not installed"),
    ("bonds.members", host({f"{BONDING}/bond0": f"Bonding Mode: {LACP}\nMII Status: up\n"}), {}, "no member"),
    ("bonds.mtu", bond(), {"network__mtu": ["eth0=jumbo"]}, "expected a number"),
    ("containers.runtime", host(CONTAINERD), {"containers__runtimes": ["containerd"]}, "no tool is installed"),
    ("kernel_log.host", host({"/dev/kmsg": ""}), {}, "empty"),
    ("limits.jobs", host({"/proc/self/limits": "x\n"}), {"limits__job_min": ["rss=1"]}, "'rss'"),
    ("mounts.lustre", mounted(), {}, "neither its health"),
    ("mounts.answering", mounted(home=ProbeUnavailable("/home: Permission denied"), scratch=ProbeUnavailable("/scratch: Permission denied")), {}, "Permission denied"),
    ("network.versions", host(interface(), ethtool=ran(rc=1, stderr="No such device")), {"network__drivers": ["x=1"]}, "No such device"),
    ("nvme.smart", host(drive("nvme0"), nvme="{}", smartctl=""), {}, "no SMART readings of nvme0"),
    ("nvme.smart", host(drive("nvme0"), nvme=HUNG), {}, "not back"),
    ("nvme.smart", host(drive("nvme0")), {"nvme__count": 1}, "neither nvme nor smartctl"),
    ("pci.acs", host({}, lspci=""), {"pci__acs_off": True}, "no bridge"),
    ("pci.acs", host({}, lspci="00:01.0 PCI bridge: x\n\tCapabilities: <access denied>\n"), {"pci__acs_off": True}, "needs root"),
    ("pci.devices", host(device()), {"pci__devices": ["15b3:1021=some"]}, "expected a number"),
    ("kernel.thp", host({"/sys/kernel/mm/transparent_hugepage/enabled": "odd"}), {"kernel__thp": "never"}, "no choice"),
    ("slurm.node", host(SLURM, scontrol=ran(rc=1, stderr="Unable to contact slurm controller")), {}, "Unable to contact"),
    ("slurm.node", host(SLURM), {"slurm__expected": True}, "scontrol: not installed"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "machine", "wanted", "says"), ODD)
def test_odd_answers_are_unable(check, machine, wanted, says):
    with pytest.raises(ProbeUnavailable, match=says):
        ask(check, host=machine, expected=expect(**wanted))


@pytest.mark.parametrize(
    ("check", "machine"),
    [
        ("nvme.smart", host(drive("nvme0"))),
        ("containers.runtime", host(CONTAINERD)),
        ("kubelet.healthy", host(KUBELET)),
        ("slurm.node", host(SLURM)),
        ("bmc.events", host(BMC)),
        ("bmc.sensors", host(BMC)),
        ("bmc.sensors", host(BMC, env=ran(rc=127, stderr="env: 'ipmitool': No such file or directory"))),
    ],
)
def test_a_tool_that_is_not_installed_and_nothing_expected_is_skipped(check, machine):
    assert isinstance(ask(check, host=machine), NotApplicable)


@pytest.mark.parametrize("check", NOTHING)
def test_no_tool_is_started_where_there_is_nothing_to_ask(check):
    machine = RecordedHost()
    ask(check, host=machine)
    assert machine.ran == []


def test_a_dead_mount_is_named_and_the_others_are_looked_at():
    asked = []

    class Watched(RecordedHost):
        def space(self, path, *, timeout_s=0.0):
            asked.append((path, timeout_s > 0))
            return super().space(path)

    room = Space(total_bytes=1, free_bytes=1, total_inodes=0, free_inodes=0)
    machine = Watched(files={MOUNTINFO: MOUNTS}, spaces={"/home": DEAD, "/scratch": room})
    answer = ask("mounts.answering", host=machine)
    assert [finding.subject for finding in answer.findings] == ["/home"]
    assert asked == [("/home", True), ("/scratch", True)]


def test_after_some_dead_mounts_the_rest_is_not_asked_and_that_is_said():
    text = "".join(f"{30 + i} 29 0:{i} / /m{i} rw - nfs4 filer{i}:/ rw\n" for i in range(9))
    machine = RecordedHost(files={MOUNTINFO: text}, spaces={f"/m{i}": DEAD for i in range(9)})
    answer = ask("mounts.answering", host=machine)
    assert len(answer.findings) == 3
    assert answer.looked["stopped_after"] == "/m2"


def test_one_server_mounted_in_many_places_is_asked_once():
    text = "".join(f"{30 + i} 29 0:40 / /m{i} rw - nfs4 filer:/home rw\n" for i in range(9))
    room = Space(total_bytes=1, free_bytes=1, total_inodes=0, free_inodes=0)
    answer = ask("mounts.answering", host=RecordedHost(files={MOUNTINFO: text}, spaces={"/m0": room}))
    assert answer.looked["mounts"] == 1


def test_a_mount_that_we_may_not_ask_is_no_dead_one():
    answer = ask("mounts.answering", host=mounted(home=ProbeUnavailable("/home: Permission denied")))
    assert codes(answer) == []
    assert answer.looked["denied"] == ["/home"]


def test_a_runtime_that_serves_no_kubernetes_answers():
    machine = host(
        CONTAINERD, crictl=ran(rc=1, stderr="rpc error: code = Unimplemented desc = unknown service")
    )
    assert codes(ask("containers.runtime", host=machine)) == []


def test_a_counter_that_cannot_be_read_twice_tells_nothing():
    state = {
        f"{IB}/mlx5_0/ports/1/state": "4: ACTIVE\n",
        f"{IB}/mlx5_0/ports/1/counters/link_downed": "odd\n",
    }
    answer = ask("counters.growing", host=host(state))
    assert not answer.looked  # the runner makes "unable" of it


def test_counters_of_free_ports_and_virtual_interfaces_are_not_looked_at():
    free = port(state="1: DOWN")
    virtual = {f"{NET}/veth1/statistics/rx_errors": "5\n"}
    assert isinstance(ask("counters.growing", host=host(free, virtual)), NotApplicable)


def test_growing_counters_of_one_port_are_one_finding_and_the_wait_is_one():
    folder = f"{IB}/mlx5_0/ports/1/counters"
    names = ("symbol_error", "port_rcv_errors")
    machine = RecordedHost(
        files=port() | {f"{folder}/{name}": "0\n" for name in names},
        later={f"{folder}/{name}": "500\n" for name in names},
    )
    answer = ask("counters.growing", host=machine)
    assert [(one.code, one.subject) for one in answer.findings] == [("ib.errors", "mlx5_0/1")]
    assert "symbol_error grows by 500/s, port_rcv_errors grows by 500/s" in answer.findings[0].message
    assert machine.waited_s == 1.0


def test_what_waits_for_credit_is_told():
    path = f"{IB}/mlx5_0/ports/1/counters/port_xmit_wait"
    machine = RecordedHost(files=port() | {path: "5\n"}, later={path: "905\n"})
    assert ask("counters.growing", host=machine).looked["xmit_wait_ticks"] == {"mlx5_0/1": 900}


def test_memory_errors_name_their_module():
    answer = ask("memory.edac", host=edac(ue=2))
    assert answer.findings[0].evidence == ("CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 (channel 1 slot 0): 2",)


def test_edac_without_modules_still_counts():
    files = {f"{EDAC}/mc0/ue_count": "1\n", f"{EDAC}/mc0/ce_count": "0\n"}
    assert codes(ask("memory.edac", host=host(files))) == ["host.edac.ue"]


def test_memory_without_pressure_information_is_looked_at():
    files = {"/proc/meminfo": meminfo()["/proc/meminfo"]}
    assert ask("memory.available", host=host(files)).looked["pressure_full_percent"] is None


def test_fatal_bus_errors_say_of_which_kind():
    answer = ask("pci.errors", host=host(aer("fatal", 2)))
    assert answer.findings[0].evidence == ("DLP 2",)


def test_a_virtual_function_has_no_link_of_its_own():
    virtual = {
        f"{PCI}/{CARD}/class": "0x020000\n",
        f"{PCI}/{CARD}/current_link_width": "0\n",
        f"{PCI}/{CARD}/max_link_width": "0\n",
    }
    assert isinstance(ask("pci.links", host=host(virtual)), NotApplicable)


def test_a_bond_that_nobody_filled_is_no_fault():
    empty = {f"{BONDING}/bond0": "Bonding Mode: load balancing (round-robin)\nMII Status: down\n"}
    assert codes(ask("bonds.members", host=host(empty))) == []


def test_members_of_a_bond_are_told_one_by_one():
    text = BOND.format(mode=LACP, bond="up", member="down", aggregator=1, partner="00:1c:73:00:00:99")
    answer = ask("bonds.members", host=host({f"{BONDING}/bond0": text}))
    assert [finding.subject for finding in answer.findings] == ["bond0/eth1"]


def test_events_from_before_the_clock_was_set_are_told_by_their_number():
    answer = ask("bmc.events", host=events())
    assert answer.looked == {"events": 4, "new": 0, "undated": 1, "log_used_percent": 12}


def test_the_log_of_the_controller_is_never_cleared():
    machine = events(*EVENTS["host.fan"])
    ask("bmc.events", host=machine)
    ask(
        "bmc.sensors",
        host=RecordedHost(files={"/dev/ipmi0": ""}, commands={"env": "FAN1 | 9 RPM | ok\n"}),
    )
    assert {argv[2:5] for argv in machine.ran} == {("ipmitool", "sel", "elist"), ("ipmitool", "sel", "info")}


def test_lines_of_one_trouble_are_one_finding():
    text = "".join(
        f"3,{i},{(5000 + i) * 10**6},-;INFO: task pt_main:{i} blocked for more than 122 seconds.\n"
        for i in range(50)
    )
    machine = RecordedHost(files={"/dev/kmsg": text, "/proc/uptime": "7200 1\n"}, clock=NOW)
    answer = ask("kernel_log.host", host=machine)
    assert codes(answer) == ["host.hung_task"]
    assert answer.looked["new"] == 50


def test_only_what_is_newer_than_the_admission_counts():
    text = "EXT4-fs error (device md0): ext4_lookup:1700: inode #2: comm ls"
    assert codes(ask("kernel_log.host", host=log(text, at_s=6000), since=NOW - 1000)) == []
    assert codes(ask("kernel_log.host", host=log(text, at_s=6500), since=NOW - 1000)) == ["host.fs.error"]


def test_a_healthy_log_costs_no_catalogue():
    import sys

    for name in [name for name in sys.modules if name.startswith("greenroom.policy.incidents")]:
        del sys.modules[name]
    ask("kernel_log.host", host=log("nvme nvme0: 16/0/0 default/read/poll queues"))
    assert "greenroom.policy.incidents" not in sys.modules


def test_processors_that_are_not_capped_say_what_they_may_reach():
    files = {f"{CPU}/cpu{i}/cpufreq/cpuinfo_max_freq": "3800000\n" for i in range(2)}
    assert ask("processor.frequency", host=host(files)).looked == {"processors": 2, "least_mhz": 3800.0}


def test_firmware_is_told_for_each_device():
    answer = ask("infiniband.firmware", host=host(adapter("mlx5_0"), adapter("mlx5_1", firmware="1.0")))
    assert answer.findings[0].message == "mlx5_0 28.39.2048, mlx5_1 1.0"


def test_smart_readings_are_told():
    assert ask("nvme.smart", host=smart(percent_used=42)).looked["nvme0"]["used_percent"] == 42


def test_every_code_of_the_family_is_found_by_a_check():
    detected = {code for check in load_all().values() for code in check.detects}
    assert catalogue("host_checks") - detected == set()


# Nothing is expected, and what is there is told: `greenroom expect learn` goes by it.
TOLD = [
    ("network.count", host(interface()), {"interfaces": ["eth0"], "count": 1}),
    ("memory.modules", edac(), {"modules": 2}),
    ("processor.smt", host({f"{CPU}/smt/active": "1\n"}), {"smt": True}),
    ("kernel.cgroup", host({"/sys/fs/cgroup/cgroup.controllers": ""}), {"cgroup": 2}),
    (
        "kernel.thp",
        host({"/sys/kernel/mm/transparent_hugepage/enabled": "[always] never\n"}),
        {"thp": "always"},
    ),
]


@pytest.mark.parametrize(("check", "machine", "looked"), TOLD)
def test_what_nobody_expects_is_told_all_the_same(check, machine, looked):
    answer = ask(check, host=machine)
    assert isinstance(answer, NotApplicable)
    assert answer.looked == looked


DISK = {"/sys/block/sda/size": "1\n"}
UNSUPPORTED = '{"smart_support": {"available": false}}'
REFUSED = '{"smartctl": {"exit_status": 2, "messages": [{"string": "Permission denied"}]}}'


def test_drives_without_smart_readings():
    assert isinstance(ask("disk.smart", host=host({})), NotApplicable)
    assert isinstance(ask("disk.smart", host=host(DISK)), NotApplicable)  # no smartctl
    virtual = RecordedHost(files=DISK, commands={"smartctl -j -a /dev/sda": UNSUPPORTED})
    assert isinstance(ask("disk.smart", host=virtual), NotApplicable)
    silent = RecordedHost(files=DISK, commands={"smartctl -j -a /dev/sda": REFUSED})
    with pytest.raises(ProbeUnavailable, match="no SMART readings of sda"):
        ask("disk.smart", host=silent)
