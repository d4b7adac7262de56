"""The machine beside its GPUs: processors, memory, disks, network, kernel, services."""

import json

from cases import bad, good
from healthy import expect

from greenroom.probes.host import Ran, Space
from greenroom.probes.recorded import RecordedHost

GIB = 1024**3
EDAC = "/sys/devices/system/edac/mc/mc0"
CPU = "/sys/devices/system/cpu"
IB = "/sys/class/infiniband"
CHRONY = "A29FC87B,10.0.0.1,3,1700000000.1,{offset},0.0,0.0,1.0,0.0,0.01,0.02,0.03,64.2,{leap}\n"
MOUNT = "29 1 8:1 / {path} {mount},relatime shared:1 - ext4 /dev/sda1 {fs},errors=remount-ro\n"
STRESS = "stress-ng: metrc: [9] {what}                2551      1.00      1.98      0.01      2550.34        1280.08\n"
BAD_STRESS = "stress-ng: fail:  [10] {what}: matrixprod error detected, failed final checksum\n"
MEMINFO = "MemTotal:       24684000 kB\nMemAvailable:   20000000 kB\n"


def ran(rc: int = 0, stdout: str = "", stderr: str = "") -> Ran:
    """A command that came back."""
    return Ran(argv=(), rc=rc, stdout=stdout, stderr=stderr, seconds=0.0)


def files(contents: dict[str, str]) -> RecordedHost:
    """Nothing but these files."""
    return RecordedHost(files=contents)


def commands(**outputs: Ran | str) -> RecordedHost:
    """Nothing but these commands."""
    return RecordedHost(commands=outputs)


def space(*, free: float = 0.5, inodes: float = 0.5) -> Space:
    """100 GiB and a million inodes, with this part of them free."""
    return Space(
        total_bytes=100 * GIB, free_bytes=int(100 * GIB * free), total_inodes=10**6, free_inodes=int(10**6 * inodes)
    )  # fmt: skip


def room(path: str = "/tmp", **left: float) -> RecordedHost:
    """One file system."""
    return RecordedHost(spaces={path: space(**left)})


def mounts(path: str = "/scratch", mount: str = "rw", fs: str = "rw", fstab: str = "") -> RecordedHost:
    """One mount, as /proc/self/mountinfo and fstab have it."""
    text = MOUNT.format(path=path, mount=mount, fs=fs)
    return RecordedHost(files={"/proc/self/mountinfo": text, "/etc/fstab": fstab}, spaces={path: space()})


def stress(text: str, what: str, rc: int = 0) -> RecordedHost:
    """stress-ng said so."""
    known = {"/proc/meminfo": MEMINFO, f"{CPU}/online": "0-3\n"}
    return RecordedHost(files=known, commands={"stress-ng": ran(rc, stderr=text.format(what=what))})


def disk(error: int = 0, stderr: str = "") -> RecordedHost:
    """fio wrote a MiB and read it back."""
    job = {"error": error, "write": {"io_bytes": 1 << 20, "bw_bytes": 1e8}, "read": {"io_bytes": 1 << 20, "bw_bytes": 2e8}}  # fmt: skip
    answer = ran(int(error > 0), "note\n" + json.dumps({"jobs": [job]}), stderr)
    return RecordedHost(spaces={"/var/tmp": space()}, commands={"fio": answer, "rm": ""})


def links(**links_: dict[str, str]) -> RecordedHost:
    """Interfaces of /sys/class/net, and lo."""
    tree = {f"/sys/class/net/{name}/{key}": text for name, row in links_.items() for key, text in row.items()}
    return files({**tree, "/sys/class/net/lo/operstate": "unknown\n"})


def link(
    state: str = "up", speed: str = "200000", changes: str = "3", *, virtual: bool = False
) -> dict[str, str]:
    """One interface."""
    fields = {"operstate": f"{state}\n", "speed": f"{speed}\n", "carrier_changes": f"{changes}\n"}
    return fields if virtual else {**fields, "device/vendor": "0x15b3\n"}


def iperf(bits: float) -> RecordedHost:
    """iperf3 measured so many bit/s."""
    data = {"end": {"sum_received": {"bits_per_second": bits}}}
    return RecordedHost(commands={"iperf3 -c": json.dumps(data), "iperf3 -s": ""})


def port(
    name: str = "mlx5_0",
    *,
    state: str = "4: ACTIVE",
    physical: str = "5: LinkUp",
    rate: str = "400 Gb/sec (4X NDR)",
) -> RecordedHost:
    """One port of an adapter."""
    root = f"{IB}/{name}/ports/1"
    return files(
        {f"{root}/state": f"{state}\n", f"{root}/phys_state": f"{physical}\n", f"{root}/rate": f"{rate}\n"}
    )


def processes(state: str, count: int) -> RecordedHost:
    """So many processes in that state."""
    return files({f"/proc/{pid}/stat": f"{pid} (python3) {state} 1 1 1\n" for pid in range(1, count + 1)})


def governors(*names: str) -> RecordedHost:
    """A governor for each processor."""
    return files({f"{CPU}/cpu{i}/cpufreq/scaling_governor": f"{name}\n" for i, name in enumerate(names)})


def nodes(count: int) -> RecordedHost:
    """NUMA nodes."""
    return files({f"/sys/devices/system/node/node{i}/cpulist": "0\n" for i in range(count)})


TMP = expect(filesystem__free_paths=["/tmp"])
NET = expect(network__links=["eth0"], network__speed_mbps_min=200000)
MOUNTS = expect(filesystem__mounts=["/scratch"])
PORT = expect(infiniband__ports=["mlx5_0/1"], infiniband__rate_gbps_min=400)
SIX = expect(processor__count_min=6)
PERFORMANCE = expect(processor__governor="performance")
TWO_NODES = expect(processor__numa_nodes=2)
MODULES = expect(kernel__modules=["nvidia-peermem", "ib_core"])
CMDLINE = expect(kernel__cmdline=["iommu=pt"])
SYSCTL = expect(kernel__sysctl=["vm.zone_reclaim_mode=0", "net.ipv4.tcp_rmem=4096 87380 6291456"])
MEMLOCK = expect(limits__memlock_kib_min=1024)
UNITS = expect(services__active=["munge", "chronyd"])
NAMES = expect(names__resolve=["ctl"])
RMEM = {"/proc/sys/net/ipv4/tcp_rmem": "4096\t87380\t6291456\n"}
LIMITS = "Limit  Soft  Hard  Units\nMax locked memory   {limit}  {limit}  bytes\n"

CASES = [
    good("cpu.stress", "right results", host=stress(STRESS, "cpu")),
    bad("cpu.stress", "host.cpu.miscompute", "a wrong checksum", host=stress(BAD_STRESS, "cpu", 2)),
    good("memory.stress", "right results", host=stress(STRESS, "vm")),
    bad("memory.stress", "host.memory.miscompute", "a wrong checksum", host=stress(BAD_STRESS, "vm", 2)),
    good("memory.size", "23.5 GiB of 23", host=files({"/proc/meminfo": MEMINFO}), expected=expect(memory__total_gib_min=23)),
    bad("memory.size", "host.memory.missing", "23.5 GiB of 24", host=files({"/proc/meminfo": MEMINFO}), expected=expect(memory__total_gib_min=24)),
    good("memory.edac", "few corrected errors", host=files({f"{EDAC}/ue_count": "0\n", f"{EDAC}/ce_count": "4000\n"})),
    bad("memory.edac", "host.edac.ue", "an uncorrected error", host=files({f"{EDAC}/ue_count": "1\n", f"{EDAC}/ce_count": "0\n"})),
    bad("memory.edac", "host.edac.ce", "many corrected errors", host=files({f"{EDAC}/ue_count": "0\n", f"{EDAC}/ce_count": "4001\n"})),
    good("filesystem.free", "half free", host=room(), expected=TMP),
    good("filesystem.free", "a file system without inodes", host=RecordedHost(spaces={"/tmp": Space(total_bytes=GIB, free_bytes=GIB, total_inodes=0, free_inodes=0)}), expected=TMP),
    bad("filesystem.free", "host.fs.full", "1 % left", host=room(free=0.01), expected=TMP),
    bad("filesystem.free", "host.fs.full", "1 % of the inodes left", host=room(inodes=0.01), expected=TMP),
    good("filesystem.writable", "mounted to write", host=mounts()),
    good("filesystem.writable", "mounted to read", host=mounts(mount="ro", fs="ro")),
    good("filesystem.writable", "bound to read", host=mounts(mount="ro")),
    good("filesystem.writable", "fstab wants it so", host=mounts(fs="ro", fstab="/dev/sda1 /scratch ext4 ro,noatime 0 0\n")),
    bad("filesystem.writable", "host.fs.readonly", "the kernel made it read-only", host=mounts(fs="ro")),
    bad("filesystem.writable", "host.fs.readonly", "as Linux 6.13 tells it", host=mounts(fs="rw,errors=remount-ro,emergency_ro")),
    bad("filesystem.writable", "host.fs.readonly", "fstab only speaks of it", host=mounts(fs="ro", fstab="# /dev/sda1 /scratch ext4 ro 0 0\n")),
    good("filesystem.mounted", "mounted", host=mounts(), expected=MOUNTS),
    bad("filesystem.mounted", "host.mount.missing", "another one is", host=mounts("/data"), expected=MOUNTS),
    good("disk.verify", "read back as written", host=disk()),
    bad("disk.verify", "host.disk.corrupt", "other bytes", host=disk(84, "verify: bad header rand_seed")),
    bad("disk.verify", "host.disk.error", "the disk failed", host=disk(5)),
    good("clock.synchronised", "chrony is near", host=commands(chronyc=CHRONY.format(offset="0.000012", leap="Normal"))),
    good("clock.synchronised", "systemd says yes", host=commands(timedatectl="Timezone=UTC\nNTPSynchronized=yes\n")),
    good("clock.synchronised", "no chrony, systemd says yes", host=commands(chronyc="506 Cannot talk to daemon", timedatectl="NTPSynchronized=yes\n")),
    bad("clock.synchronised", "host.clock.unsynced", "2.5 s off", host=commands(chronyc=CHRONY.format(offset="-2.5", leap="Normal"))),
    bad("clock.synchronised", "host.clock.unsynced", "chrony has no source", host=commands(chronyc=CHRONY.format(offset="0.0", leap="Not synchronised"))),
    bad("clock.synchronised", "host.clock.unsynced", "systemd says no", host=commands(timedatectl="NTPSynchronized=no\n")),
    good("network.links", "up and fast", host=links(eth0=link()), expected=NET),
    good("network.links", "a free port", host=links(eth0=link(), eth1=link("down", "-1")), expected=NET),
    good("network.links", "no speed is told", host=links(eth0=link(speed="-1")), expected=NET),
    good("network.links", "only a virtual one flaps", host=links(eth0=link(), veth1=link(changes="999", virtual=True)), expected=NET),
    bad("network.links", "net.link.down", "down, too", host=links(eth0=link("down", "-1")), expected=NET),
    bad("network.links", "net.link.down", "absent", host=links(eth1=link()), expected=NET),
    bad("network.links", "net.link.slow", "half the speed", host=links(eth0=link(speed="100000")), expected=NET),
    bad("network.links", "net.link.flapping", "21 changes", host=links(eth0=link(changes="21")), expected=NET),
    good("loopback.tcp", "23 Gbit/s", host=iperf(23e9)),
    bad("loopback.tcp", "net.loopback.slow", "1 Gbit/s", host=iperf(1e9)),
    good("infiniband.ports", "active and fast", host=port(), expected=PORT),
    good("infiniband.ports", "a free port", host=port(state="1: DOWN", physical="2: Polling")),
    bad("infiniband.ports", "ib.port.slow", "half the rate", host=port(rate="200 Gb/sec (4X HDR)"), expected=PORT),
    bad("infiniband.ports", "ib.port.down", "polling", host=port(state="1: DOWN", physical="2: Polling"), expected=PORT),
    bad("infiniband.ports", "ib.port.down", "no subnet manager", host=port(state="2: INIT"), expected=PORT),
    bad("infiniband.ports", "ib.port.down", "another adapter only", host=port("mlx5_1"), expected=PORT),
    bad("infiniband.ports", "ib.port.down", "no adapter", host=files({}), expected=PORT),
    good("processes.stuck", "at rest", host=processes("S", 500)),
    good("processes.stuck", "32 in the kernel", host=processes("D", 32)),
    good("processes.stuck", "200 not reaped", host=processes("Z", 200)),
    bad("processes.stuck", "host.processes.uninterruptible", "33 in the kernel", host=processes("D", 33)),
    bad("processes.stuck", "host.processes.zombies", "201 not reaped", host=processes("Z", 201)),
    good("processor.count", "six of six", host=files({f"{CPU}/online": "0-3,8-9\n", f"{CPU}/present": "0-9\n"}), expected=SIX),
    bad("processor.count", "host.cpu.offline", "five of six", host=files({f"{CPU}/online": "0-3,8\n", f"{CPU}/present": "0-9\n"}), expected=SIX),
    good("processor.governor", "as tuned", host=governors("performance", "performance"), expected=PERFORMANCE),
    bad("processor.governor", "host.cpu.governor", "one is not", host=governors("performance", "powersave"), expected=PERFORMANCE),
    good("processor.numa", "two of two", host=nodes(2), expected=TWO_NODES),
    bad("processor.numa", "host.numa.layout", "one of two", host=nodes(1), expected=TWO_NODES),
    good("kernel.modules", "loaded, too", host=files({"/proc/modules": "nvidia_peermem 1 0 - Live 0x0\nib_core 1 0 - Live 0x0\n"}), expected=MODULES),
    bad("kernel.modules", "host.kernel.module", "one is not", host=files({"/proc/modules": "ib_core 1 0 - Live 0x0\n"}), expected=MODULES),
    good("kernel.cmdline", "there, too", host=files({"/proc/cmdline": "BOOT_IMAGE=/x iommu=pt quiet\n"}), expected=CMDLINE),
    bad("kernel.cmdline", "host.kernel.cmdline", "a longer word", host=files({"/proc/cmdline": "BOOT_IMAGE=/x iommu=ptx\n"}), expected=CMDLINE),
    good("kernel.sysctl", "as set", host=files({"/proc/sys/vm/zone_reclaim_mode": "0\n", **RMEM}), expected=SYSCTL),
    bad("kernel.sysctl", "host.kernel.sysctl", "one is not", host=files({"/proc/sys/vm/zone_reclaim_mode": "1\n", **RMEM}), expected=SYSCTL),
    good("limits.memlock", "unlimited, too", host=files({"/proc/self/limits": LIMITS.format(limit="unlimited")}), expected=MEMLOCK),
    bad("limits.memlock", "host.limits.memlock", "64 KiB", host=files({"/proc/self/limits": LIMITS.format(limit="65536")}), expected=MEMLOCK),
    good("services.active", "both active", host=commands(systemctl=ran(0, "active\nactive\n")), expected=UNITS),
    bad("services.active", "host.service.down", "one failed, too", host=commands(systemctl=ran(3, "active\nfailed\n")), expected=UNITS),
    bad("services.active", "host.service.down", "one is not known", host=commands(systemctl=ran(3, "active\nunknown\n")), expected=UNITS),
    good("names.resolve", "resolved", host=commands(getent=ran(0)), expected=NAMES),
    bad("names.resolve", "host.dns", "no such name", host=commands(getent=ran(2)), expected=NAMES),
]  # fmt: skip
