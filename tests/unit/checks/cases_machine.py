"""Memory, processors, kernel, processes, clock, services."""

from __future__ import annotations

from cases import bad, good
from cases_network import host
from cases_pci import CARD, CPU, device
from cases_storage import ran
from healthy import expect

from greenroom.probes.recorded import RecordedHost

EDAC, NODE = "/sys/devices/system/edac/mc", "/sys/devices/system/node"
TAINTED = "/proc/sys/kernel/tainted"


def edac(*, ue=0, ce=0, sizes=(65536, 65536)):
    files = {f"{EDAC}/mc0/ue_count": f"{ue}\n", f"{EDAC}/mc0/ce_count": f"{ce}\n"}
    for index, size in enumerate(sizes):
        folder = f"{EDAC}/mc0/dimm{index}"
        files |= {
            f"{folder}/size": f"{size}\n",
            f"{folder}/dimm_label": f"CPU_SrcID#0_Ha#0_Chan#{index}_DIMM#0\n",
            f"{folder}/dimm_location": f"channel {index} slot 0\n",
            f"{folder}/dimm_ce_count": f"{ce if index == 1 else 0}\n",
            f"{folder}/dimm_ue_count": f"{ue if index == 1 else 0}\n",
        }
    return host(files)


MODULES = expect(memory__modules=2, memory__module_gib_min=64)


def meminfo(*, total=24_684_000, available=20_000_000, swap=0, pages=512, pressure="0.00"):
    text = f"MemTotal: {total} kB\nMemAvailable: {available} kB\nSwapTotal: {swap} kB\nHugePages_Total: {pages}\n"
    psi = f"some avg10=0.00 avg60=9.00 avg300=0.00 total=0\nfull avg10=0.00 avg60={pressure} avg300=0.00 total=0\n"
    return {"/proc/meminfo": text, "/proc/pressure/memory": psi}


STRESS = "stress-ng: metrc: [9] cpu                2551      1.00      1.98      0.01      2550.34        1280.08\n"
WRONG = "stress-ng: fail:  [10] cpu: matrixprod error detected, failed final checksum\n"


def stress(rc, stderr):
    return RecordedHost(files=meminfo(), commands={"stress-ng": ran(rc=rc, stderr=stderr)})


def cpus(count=4, *, most=3_800_000, **changes):
    fields = {
        "cpuinfo_max_freq": most,
        "scaling_max_freq": most,
        "bios_limit": most,
        "scaling_governor": "performance",
    }
    return {
        f"{CPU}/cpu{index}/cpufreq/{field}": f"{text}\n"
        for index in range(count)
        for field, text in (fields | changes).items()
    }


def microcode(*versions):
    return host({f"{CPU}/cpu{index}/microcode/version": f"{text}\n" for index, text in enumerate(versions)})


def nodes(count):
    return host({f"{NODE}/node{index}/cpulist": "0\n" for index in range(count)})


def distances(*rows):
    return host({f"{NODE}/node{index}/distance": f"{row}\n" for index, row in enumerate(rows)})


FAR = expect(processor__numa_distances=["10 21", "21 10"])
LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units
Max stack size            {}            unlimited            bytes
Max core file size        0                    unlimited            bytes
Max processes             unlimited            unlimited            processes
Max open files            {}             1048576              files
Max locked memory         {}            unlimited            bytes
"""


def limits(*, stack="unlimited", nofile=1048576, memlock="unlimited"):
    return host({"/proc/self/limits": LIMITS.format(stack, nofile, memlock)})


JOB = expect(limits__job_min=["nofile=65536", "stack=unlimited", "nproc=65536"])


def processes(state, count):
    return host({f"/proc/{pid}/stat": f"{pid} (python3) {state} 1 1 1\n" for pid in range(1, count + 1)})


CHRONY = "A29FC87B,10.0.0.1,3,1700000000.1,{},0.0,0.0,1.0,0.0,0.01,0.02,0.03,64.2,{}\n"
RELEASE = {"/proc/sys/kernel/osrelease": "6.8.0-51-generic\n"}
THP = {"/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n"}
CGROUP = {"/sys/fs/cgroup/cgroup.controllers": "cpu io memory\n"}
SMT = {f"{CPU}/smt/active": "1\n"}
ONLINE = {f"{CPU}/online": "0-3,8-9\n", f"{CPU}/present": "0-9\n"}
MODULE = {"/proc/modules": "nvidia_peermem 1 0 - Live 0x0\n"}
SIX = expect(processor__count_min=6)
PEERMEM = expect(kernel__modules=["nvidia-peermem"])
UNITS = expect(services__active=["munge", "chronyd"])
MEMORY = [
    good("memory.size", "all there", host=host(meminfo()), expected=expect(memory__total_gib_min=23)),
    bad(
        "memory.size",
        "host.memory.missing",
        "less",
        host=host(meminfo()),
        expected=expect(memory__total_gib_min=24),
    ),
    good("memory.stress", "right", host=stress(0, STRESS)),
    bad("memory.stress", "host.memory.miscompute", "wrong", host=stress(2, STRESS + WRONG)),
    good("memory.edac", "a few corrected", host=edac(ce=12)),
    bad("memory.edac", "host.edac.ue", "uncorrected", host=edac(ue=1)),
    bad("memory.edac", "host.edac.ce", "many corrected", host=edac(ce=4001)),
    good("memory.modules", "two of two", host=edac(), expected=MODULES),
    good(
        "memory.modules",
        "as dmidecode says",
        host=host({}, dmidecode="\tSize: 64 GB\n\tSize: No Module Installed\n\tSize: 64 GB\n"),
        expected=MODULES,
    ),
    bad(
        "memory.modules", "host.memory.module", "an empty slot", host=edac(sizes=(65536, 0)), expected=MODULES
    ),
    bad(
        "memory.modules",
        "host.memory.module",
        "a smaller one",
        host=edac(sizes=(65536, 32768)),
        expected=MODULES,
    ),
    good("memory.machine_checks", "modules from outside", host=host({TAINTED: "12289\n"})),
    bad("memory.machine_checks", "host.mce", "one", host=host({TAINTED: "12305\n"})),
    good("memory.hugepages", "enough", host=host(meminfo()), expected=expect(memory__hugepages_min=512)),
    bad(
        "memory.hugepages",
        "host.memory.hugepages",
        "fewer",
        host=host(meminfo(pages=511)),
        expected=expect(memory__hugepages_min=512),
    ),
    good("memory.swap", "off", host=host(meminfo()), expected=expect(memory__swap_off=True)),
    bad(
        "memory.swap",
        "host.memory.swap",
        "on",
        host=host(meminfo(swap=4096)),
        expected=expect(memory__swap_off=True),
    ),
    good("memory.available", "most of it", host=host(meminfo())),
    bad("memory.available", "host.memory.low", "something was left", host=host(meminfo(available=1_000_000))),
    bad("memory.available", "host.memory.pressure", "all wait", host=host(meminfo(pressure="41.07"))),
]
PROCESSOR = [
    good("cpu.stress", "right", host=stress(0, STRESS)),
    bad("cpu.stress", "host.cpu.miscompute", "wrong", host=stress(2, STRESS + WRONG)),
    good("processor.count", "all online", host=host(ONLINE), expected=SIX),
    bad(
        "processor.count",
        "host.cpu.offline",
        "one is off",
        host=host(ONLINE, {f"{CPU}/online": "0-3,8\n"}),
        expected=SIX,
    ),
    good("processor.governor", "all", host=host(cpus()), expected=expect(processor__governor="performance")),
    bad(
        "processor.governor",
        "host.cpu.governor",
        "saving power",
        host=host(cpus(scaling_governor="powersave")),
        expected=expect(processor__governor="performance"),
    ),
    good("processor.numa", "two", host=nodes(2), expected=expect(processor__numa_nodes=2)),
    bad("processor.numa", "host.numa.layout", "one", host=nodes(1), expected=expect(processor__numa_nodes=2)),
    good("processor.numa", "as far as declared", host=distances("10 21", "21 10"), expected=FAR),
    bad(
        "processor.numa",
        "host.numa.layout",
        "nearer than declared",
        host=distances("10 12", "12 10"),
        expected=FAR,
    ),
    good("processor.frequency", "as it can", host=host(cpus()), expected=expect(processor__mhz_min=3800)),
    bad(
        "processor.frequency",
        "host.cpu.frequency",
        "capped by the firmware",
        host=host(cpus(bios_limit=2_000_000)),
    ),
    bad(
        "processor.frequency",
        "host.cpu.frequency",
        "capped by a setting",
        host=host(cpus(scaling_max_freq=2_000_000)),
        expected=expect(processor__mhz_min=3800),
    ),
    good("processor.smt", "on", host=host(SMT), expected=expect(processor__smt=True)),
    bad(
        "processor.smt",
        "host.cpu.smt",
        "on, wished off",
        host=host(SMT),
        expected=expect(processor__smt=False),
    ),
    good("processor.microcode", "all alike", host=microcode("0xb000603", "0xb000603")),
    bad(
        "processor.microcode", "host.cpu.microcode", "one is older", host=microcode("0xb000603", "0xb000590")
    ),
    good(
        "processor.affinity",
        "as declared",
        host=host(device()),
        expected=expect(processor__affinity=[f"{CARD}=1"]),
    ),
    bad(
        "processor.affinity",
        "host.numa.affinity",
        "on the other socket",
        host=host(device()),
        expected=expect(processor__affinity=[f"{CARD}=0"]),
    ),
]
KERNEL = [
    good("kernel.modules", "loaded", host=host(MODULE), expected=PEERMEM),
    bad(
        "kernel.modules",
        "host.kernel.module",
        "not loaded",
        host=host({"/proc/modules": "x 1 0 - Live 0x0\n"}),
        expected=PEERMEM,
    ),
    good(
        "kernel.cmdline",
        "there",
        host=host({"/proc/cmdline": "iommu=pt quiet\n"}),
        expected=expect(kernel__cmdline=["iommu=pt"]),
    ),
    bad(
        "kernel.cmdline",
        "host.kernel.cmdline",
        "not there",
        host=host({"/proc/cmdline": "iommu=ptx\n"}),
        expected=expect(kernel__cmdline=["iommu=pt"]),
    ),
    good(
        "kernel.sysctl",
        "as wished",
        host=host({"/proc/sys/vm/zone_reclaim_mode": "0\n"}),
        expected=expect(kernel__sysctl=["vm.zone_reclaim_mode=0"]),
    ),
    bad(
        "kernel.sysctl",
        "host.kernel.sysctl",
        "another",
        host=host({"/proc/sys/vm/zone_reclaim_mode": "1\n"}),
        expected=expect(kernel__sysctl=["vm.zone_reclaim_mode=0"]),
    ),
    good("kernel.taint", "modules from outside", host=host({TAINTED: "12289\n"})),
    bad("kernel.taint", "host.kernel.tainted", "a warning", host=host({TAINTED: "512\n"})),
    bad("kernel.taint", "host.kernel.damaged", "an oops", host=host({TAINTED: "128\n"})),
    bad("kernel.taint", "host.kernel.damaged", "a soft lockup", host=host({TAINTED: str(1 << 14)})),
    good("kernel.version", "its beginning", host=host(RELEASE), expected=expect(kernel__version="6.8.0-51")),
    bad(
        "kernel.version",
        "host.kernel.version",
        "not 6.8.0-5",
        host=host(RELEASE),
        expected=expect(kernel__version="6.8.0-5"),
    ),
    good("kernel.cgroup", "two", host=host(CGROUP), expected=expect(kernel__cgroup=2)),
    bad(
        "kernel.cgroup",
        "host.kernel.cgroup",
        "one",
        host=host({"/sys/fs/cgroup/memory/tasks": ""}),
        expected=expect(kernel__cgroup=2),
    ),
    good("kernel.thp", "madvise", host=host(THP), expected=expect(kernel__thp="madvise")),
    bad("kernel.thp", "host.kernel.thp", "not always", host=host(THP), expected=expect(kernel__thp="always")),
    good("limits.memlock", "unlimited", host=limits(), expected=expect(limits__memlock_kib_min=1024)),
    bad(
        "limits.memlock",
        "host.limits.memlock",
        "little",
        host=limits(memlock=65536),
        expected=expect(limits__memlock_kib_min=1024),
    ),
    good("limits.jobs", "enough", host=limits(), expected=JOB),
    bad("limits.jobs", "host.limits.job", "few files", host=limits(nofile=1024), expected=JOB),
    bad("limits.jobs", "host.limits.job", "a small stack", host=limits(stack=8388608), expected=JOB),
]
DAEMONS = [
    good("processes.stuck", "many that sleep", host=processes("S", 500)),
    bad("processes.stuck", "host.processes.uninterruptible", "many in the kernel", host=processes("D", 33)),
    bad("processes.stuck", "host.processes.zombies", "many that nobody reaps", host=processes("Z", 201)),
    good("clock.synchronised", "microseconds off", host=host({}, chronyc=CHRONY.format("0.000012", "Normal"))),
    bad("clock.synchronised", "host.clock.unsynced", "seconds off", host=host({}, chronyc=CHRONY.format("-2.5", "Normal"))),
    good("services.active", "both", host=host({}, systemctl=ran("active\nactive\n")), expected=UNITS),
    bad("services.active", "host.service.down", "one failed", host=host({}, systemctl=ran("active\nfailed\n", rc=3)), expected=UNITS),
    good("names.resolve", "found", host=host({}, getent=ran()), expected=expect(names__resolve=["ctl"])),
    bad("names.resolve", "host.dns", "not found", host=host({}, getent=ran(rc=2)), expected=expect(names__resolve=["ctl"])),
]  # fmt: skip
CASES = [*MEMORY, *PROCESSOR, *KERNEL, *DAEMONS]
