"""Processors and NUMA nodes as the kernel sees them (kernel ABI, sysfs-devices-system-cpu)."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.model.results import Finding
from greenroom.probes.host import Host

CPU = "/sys/devices/system/cpu"
NODE = "/sys/devices/system/node"


@check("processor.count", cost_s=0.01, detects={"host.cpu.offline"}, expects={"processor.count_min"})
def count(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """All processors are there and online."""
    online = len(_ids(host.read(f"{CPU}/online")))
    present = len(_ids(host.read(f"{CPU}/present")))
    limit = expected.number("processor.count_min")
    findings: list[Finding] = []
    if limit is not None and online < limit:
        findings.append(
            found(
                "host.cpu.offline",
                subject="cpu",
                message=f"{online} processors are online, {limit:g} are expected",
                measured=str(online),
                threshold=expected["processor.count_min"],
            )
        )
    return Looked(looked={"online": online, "present": present}, findings=tuple(findings))


@check("processor.governor", cost_s=0.05, detects={"host.cpu.governor"}, expects={"processor.governor"})
def governor(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Every processor has the frequency governor that jobs are tuned for."""
    wanted = expected["processor.governor"].value
    if wanted is None:
        return NotApplicable("no governor is expected")
    paths = host.glob(f"{CPU}/cpu*/cpufreq/scaling_governor")
    if not paths:
        return NotApplicable("the kernel does not set frequencies here")
    seen = {path.split("/")[-3]: host.read(path).strip() for path in paths}
    odd = {name: value for name, value in seen.items() if value != wanted}
    if not odd:
        return Looked(looked={"processors": len(seen)})
    others = ", ".join(sorted(set(odd.values())))
    finding = found(
        "host.cpu.governor",
        subject=min(odd),
        message=f"{len(odd)} of {len(seen)} processors run under {others}",
        measured=others,
        threshold=expected["processor.governor"],
    )
    return Looked(looked={"processors": len(seen)}, findings=(finding,))


@check(
    "processor.numa",
    cost_s=0.01,
    detects={"host.numa.layout"},
    expects={"processor.numa_nodes", "processor.numa_distances"},
)
def numa(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """There are as many NUMA nodes as the machine was set up with, and as far from each other."""
    wanted, distances = expected.number("processor.numa_nodes"), expected.texts("processor.numa_distances")
    nodes = host.glob(f"{NODE}/node*/cpulist")
    if wanted is None and not distances:
        return NotApplicable("no number of NUMA nodes is expected", looked={"nodes": len(nodes)})
    findings: list[Finding] = []
    if wanted is not None and len(nodes) != wanted:
        findings.append(
            found(
                "host.numa.layout",
                subject="numa",
                message=f"{len(nodes)} NUMA nodes, {wanted:g} expected (a BIOS setting, or a lost socket)",
                measured=str(len(nodes)),
                threshold=expected["processor.numa_nodes"],
            )
        )
    for index, row in enumerate(distances):
        seen = " ".join(host.read(f"{NODE}/node{index}/distance").split())
        if seen != " ".join(row.split()):
            findings.append(
                found(
                    "host.numa.layout",
                    subject=f"node{index}",
                    message=f"distances to the nodes are {seen}, expected {row}",
                    measured=seen,
                    threshold=expected["processor.numa_distances"],
                )
            )
    return Looked(looked={"nodes": len(nodes)}, findings=tuple(findings))


def _ids(text: str) -> list[int]:
    """``0-3,8`` -> 0, 1, 2, 3, 8 (cpulist format)."""
    ids: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        ids += range(int(first), int(last or first) + 1)
    return ids
