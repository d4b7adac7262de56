"""How the processors are set up: frequency, threads, microcode, and the NUMA nodes of devices."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.optional import number_of, read_number, read_text, split_pairs
from greenroom.checks.processor import CPU
from greenroom.model.results import Finding, Json
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

PCI = "/sys/bus/pci/devices"
KHZ_PER_MHZ = 1000


@check(
    "processor.frequency",
    cost_s=0.05,
    detects={"host.cpu.frequency"},
    expects={"processor.mhz_min"},
    stage=Stage.WARN,
)
def frequency(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Nothing holds a processor under the frequency it can reach: firmware (``bios_limit``) or a setting.

    The frequency of the moment is not looked at: an idle processor is slow on purpose.
    """
    least = expected.number("processor.mhz_min")
    paths = host.glob(f"{CPU}/cpu*/cpufreq/cpuinfo_max_freq")
    if not paths:
        if least is not None:
            raise ProbeUnavailable(f"{CPU}: the kernel shows no frequencies")
        return NotApplicable("the kernel shows no frequencies here")
    slow: dict[str, str] = {}
    threshold = None
    may_mhz: list[float] = []
    for path in paths:
        folder, name = path.rpartition("/")[0], path.split("/")[-3]
        can = read_number(host, path) or 0
        firmware = read_number(host, f"{folder}/bios_limit") or can
        now = min(can, firmware, read_number(host, f"{folder}/scaling_max_freq") or can) / KHZ_PER_MHZ
        may_mhz.append(now)
        if least is not None and now < least:
            slow[name], threshold = (
                f"may run at {now:g} MHz, expected {least:g}",
                expected["processor.mhz_min"],
            )
        elif least is None and firmware < can:
            slow[name] = f"the firmware allows {firmware / KHZ_PER_MHZ:g} of {can / KHZ_PER_MHZ:g} MHz"
    findings: tuple[Finding, ...] = ()
    if slow:
        first = min(slow)
        findings = (
            found(
                "host.cpu.frequency",
                subject=first,
                message=f"{len(slow)} of {len(paths)} processors: {slow[first]}",
                measured=f"{min(may_mhz):g} MHz",
                threshold=threshold,
            ),
        )
    return Looked(looked={"processors": len(paths), "least_mhz": min(may_mhz)}, findings=findings)


@check("processor.smt", cost_s=0.01, detects={"host.cpu.smt"}, expects={"processor.smt"}, stage=Stage.WARN)
def smt(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Simultaneous multithreading is on, or off, as jobs are laid out for."""
    wanted = expected["processor.smt"]
    active = read_number(host, f"{CPU}/smt/active")
    if wanted.value is None:
        seen = {} if active is None else {"smt": bool(active)}
        return NotApplicable("simultaneous multithreading may be on or off", looked=seen)
    if active is None:
        raise ProbeUnavailable(f"{CPU}/smt/active: cannot be read")
    state = "on" if active else "off"
    findings: tuple[Finding, ...] = ()
    if bool(active) is not wanted.value:
        message = f"simultaneous multithreading is {state}"
        findings = (found("host.cpu.smt", subject="cpu", message=message, measured=state, threshold=wanted),)
    return Looked(looked={"smt": bool(active)}, findings=findings)


@check("processor.microcode", cost_s=0.05, detects={"host.cpu.microcode"}, stage=Stage.WARN)
def microcode(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """All processors of the machine run the same microcode."""
    paths = host.glob(f"{CPU}/cpu*/microcode/version")
    versions: dict[str, list[str]] = {}
    for path in paths:
        if text := read_text(host, path):
            versions.setdefault(text, []).append(path.split("/")[-3])
    if not versions:
        return NotApplicable("the kernel shows no microcode here")
    findings: tuple[Finding, ...] = ()
    if len(versions) > 1:
        rows = [f"{version}: {len(names)} processors, e.g. {names[0]}" for version, names in versions.items()]
        rare = min(versions, key=lambda version: len(versions[version]))
        findings = (
            found(
                "host.cpu.microcode",
                subject=versions[rare][0],
                message=f"{len(versions)} versions of microcode: {', '.join(sorted(versions))}",
                measured=rare,
                evidence=tuple(rows),
            ),
        )
    return Looked(looked={"versions": sorted(versions), "processors": len(paths)}, findings=findings)


@check(
    "processor.affinity",
    cost_s=0.02,
    detects={"host.numa.affinity"},
    expects={"processor.affinity"},
    stage=Stage.WARN,
)
def affinity(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """GPUs and adapters hang on the NUMA nodes that the site has declared."""
    wanted = split_pairs(expected.texts("processor.affinity"))
    if not wanted:
        return NotApplicable("no device is declared to belong to a NUMA node")
    looked: Json = {}
    findings: list[Finding] = []
    for address, text in wanted.items():
        seen = host.read(f"{PCI}/{address}/numa_node").strip()
        looked[address] = seen
        if number_of(seen or "-1", address) != number_of(text, "processor.affinity"):
            where = "no NUMA node at all" if seen == "-1" else f"NUMA node {seen}"
            findings.append(
                found(
                    "host.numa.affinity",
                    subject=address,
                    message=f"is on {where}, expected {text}",
                    measured=seen,
                    threshold=expected["processor.affinity"],
                )
            )
    return Looked(looked=looked, findings=tuple(findings))
