"""Memory as it stands: modules, machine checks, huge pages, swap, and what is left for a job."""

from __future__ import annotations

import re

from greenroom.checks.edac import ROOT as EDAC
from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.memory import KIB_PER_GIB, meminfo_kib
from greenroom.checks.optional import read_number, read_text, run_if_installed
from greenroom.model.results import Finding
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

TAINTED = "/proc/sys/kernel/tainted"
MACHINE_CHECK = 1 << 4
"""Bit of the taint flags: a machine check happened (kernel, admin-guide/tainted-kernels)."""
TOOL_TIMEOUT_S = 5.0
_MODULE = re.compile(r"^\s*Size: (\d+) (MB|GB|TB)$", re.MULTILINE)
_GIB = {"MB": 1 / 1024, "GB": 1.0, "TB": 1024.0}
_FULL_60 = re.compile(r"^full .*?avg60=(\d+(?:\.\d+)?)", re.MULTILINE)


@check(
    "memory.modules",
    cost_s=0.05,
    detects={"host.memory.module"},
    expects={"memory.modules", "memory.module_gib_min"},
    stage=Stage.WARN,
)
def modules(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """As many memory modules are in the machine as were built in, each of its size (EDAC, else dmidecode)."""
    count, least_gib = expected.number("memory.modules"), expected.number("memory.module_gib_min")
    sizes_gib = _edac_gib(host)
    if count is None and least_gib is None:
        seen = {"modules": len(sizes_gib)} if sizes_gib else {}
        return NotApplicable("no memory module is expected", looked=seen)
    sizes_gib = sizes_gib or _dmidecode_gib(host)
    if not sizes_gib:
        raise ProbeUnavailable("neither EDAC nor dmidecode shows a memory module")
    findings = []
    if count is not None and len(sizes_gib) < count:
        findings.append(
            found(
                "host.memory.module",
                subject="memory",
                message=f"{len(sizes_gib)} modules, {count:g} are expected",
                measured=str(len(sizes_gib)),
                threshold=expected["memory.modules"],
            )
        )
    if least_gib is not None and min(sizes_gib.values()) < least_gib:
        name = min(sizes_gib, key=lambda one: sizes_gib[one])
        findings.append(
            found(
                "host.memory.module",
                subject=name,
                message=f"the module has {sizes_gib[name]:g} GiB, expected {least_gib:g}",
                measured=f"{sizes_gib[name]:g} GiB",
                threshold=expected["memory.module_gib_min"],
            )
        )
    return Looked(looked={"modules": len(sizes_gib), "sizes_gib": sizes_gib}, findings=tuple(findings))


def _edac_gib(host: Host) -> dict[str, float]:
    """Populated modules. EDAC has the size in MiB; some of its drivers list ranks in place of modules."""
    sizes = {}
    for path in host.glob(f"{EDAC}/mc*/dimm*/size"):
        if mib := read_number(host, path):
            folder = path.rpartition("/")[0]
            sizes[read_text(host, f"{folder}/dimm_label") or folder.removeprefix(f"{EDAC}/")] = mib / 1024
    return sizes


def _dmidecode_gib(host: Host) -> dict[str, float]:
    ran = run_if_installed(host, ["dmidecode", "-t", "17"], timeout_s=TOOL_TIMEOUT_S)
    sizes = _MODULE.findall(ran.stdout) if ran else []
    return {f"module {index}": int(size) * _GIB[unit] for index, (size, unit) in enumerate(sizes)}


@check("memory.machine_checks", cost_s=0.01, detects={"host.mce"}, stage=Stage.WARN)
def machine_checks(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """The processor has raised no machine check since the boot (the kernel's taint flag M)."""
    flags = read_number(host, TAINTED)
    if flags is None:
        raise ProbeUnavailable(f"{TAINTED}: cannot be read")
    findings: tuple[Finding, ...] = ()
    if flags & MACHINE_CHECK:
        message = "the kernel is tainted by a machine check: its log tells which"
        findings = (found("host.mce", subject="cpu", message=message, measured=str(flags)),)
    return Looked(looked={"tainted": flags}, findings=findings)


@check(
    "memory.hugepages",
    cost_s=0.01,
    detects={"host.memory.hugepages"},
    expects={"memory.hugepages_min"},
    stage=Stage.WARN,
)
def hugepages(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """As many huge pages of the default size are set aside as jobs are told of."""
    wanted = expected.number("memory.hugepages_min")
    if wanted is None:
        return NotApplicable("no huge pages are expected")
    pages = meminfo_kib(host, "HugePages_Total")  # a count: this line of the file has no unit
    findings: tuple[Finding, ...] = ()
    if pages < wanted:
        findings = (
            found(
                "host.memory.hugepages",
                subject="memory",
                message=f"{pages} huge pages, {wanted:g} are expected",
                measured=str(pages),
                threshold=expected["memory.hugepages_min"],
            ),
        )
    return Looked(looked={"hugepages": pages}, findings=findings)


@check(
    "memory.swap", cost_s=0.01, detects={"host.memory.swap"}, expects={"memory.swap_off"}, stage=Stage.WARN
)
def swap(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """No swap is on, where the site wants none: a job that swaps is slower than one that is ended."""
    if expected["memory.swap_off"].value is not True:
        return NotApplicable("swap may be on")
    total_gib = meminfo_kib(host, "SwapTotal") / KIB_PER_GIB
    findings: tuple[Finding, ...] = ()
    if total_gib:
        findings = (
            found(
                "host.memory.swap",
                subject="memory",
                message=f"{total_gib:.1f} GiB of swap are on",
                measured=f"{total_gib:.1f} GiB",
                threshold=expected["memory.swap_off"],
            ),
        )
    return Looked(looked={"swap_gib": round(total_gib, 1)}, findings=findings)


@check(
    "memory.available",
    cost_s=0.01,
    detects={"host.memory.low", "host.memory.pressure"},
    expects={"memory.available_percent_min", "memory.pressure_full_percent_max"},
    stage=Stage.WARN,
)
def available(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """A job would find memory, and the machine does not stand still for want of it (PSI, where kept)."""
    percent = 100.0 * meminfo_kib(host, "MemAvailable") / max(1, meminfo_kib(host, "MemTotal"))
    pressure = _FULL_60.search(read_text(host, "/proc/pressure/memory"))
    waiting = float(pressure[1]) if pressure else None
    least = expected.number("memory.available_percent_min")
    most = expected.number("memory.pressure_full_percent_max")
    findings = []
    if least is not None and percent < least:
        findings.append(
            found(
                "host.memory.low",
                subject="memory",
                message=f"{percent:.1f} % of the memory is available, expected {least:g} %",
                measured=f"{percent:.1f} %",
                threshold=expected["memory.available_percent_min"],
            )
        )
    if most is not None and waiting is not None and waiting > most:
        findings.append(
            found(
                "host.memory.pressure",
                subject="memory",
                message=f"everything waited for memory {waiting:g} % of the last minute",
                measured=f"{waiting:g} %",
                threshold=expected["memory.pressure_full_percent_max"],
            )
        )
    looked = {"available_percent": round(percent, 1), "pressure_full_percent": waiting}
    return Looked(looked=looked, findings=tuple(findings))
