"""Is the memory all there, and does it keep what is written?"""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import WITH_LOAD, Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.stress import run_stress
from greenroom.model.results import Finding
from greenroom.probes.host import Host, ProbeUnavailable

KIB_PER_GIB = 1024 * 1024
COVER_S = 120.0
"""Load time after which a run covers all that it may take: about 1 GiB/s on one core, measured."""
MIN_KIB = 65_536
MAX_SHARE = 0.75
"""Of the free memory: the rest is for the system, which must not run out of it."""


@check(
    "memory.size",
    cost_s=0.01,
    detects={"host.memory.missing"},
    expects={"memory.total_gib_min"},
)
def size(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """The kernel sees as much memory as the machine should have."""
    total_gib = meminfo_kib(host, "MemTotal") / KIB_PER_GIB
    threshold, wanted_gib = expected["memory.total_gib_min"], expected.number("memory.total_gib_min")
    looked = {"total_gib": round(total_gib, 1)}
    if wanted_gib is None:
        return NotApplicable("nothing says how much memory is expected", looked=looked)
    findings: tuple[Finding, ...] = ()
    if total_gib < wanted_gib:
        findings = (
            found(
                "host.memory.missing",
                subject="memory",
                message=f"{total_gib:.1f} GiB of memory, expected {wanted_gib:g}",
                measured=f"{total_gib:.1f} GiB",
                threshold=threshold,
            ),
        )
    return Looked(looked=looked, findings=findings)


@check(
    "memory.stress",
    needs={"stress-ng"},
    cost_s=1.0,
    load_share=0.05,
    detects={"host.memory.miscompute"},
    profiles=WITH_LOAD,
)
def stress(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Patterns are written into memory and read back, all methods of stress-ng in turn."""
    share = min(MAX_SHARE, MAX_SHARE * facts.load_s / COVER_S)
    kib = max(MIN_KIB, int(meminfo_kib(host, "MemAvailable") * share))
    # 0 = one worker for each online core; the bytes are of all workers together
    workload = ["--vm", "0", "--vm-bytes", f"{kib}K", "--vm-method", "all"]
    return run_stress(host, workload, load_s=facts.load_s, code="host.memory.miscompute", subject="memory")


def meminfo_kib(host: Host, key: str) -> int:
    """A line of /proc/meminfo, KiB where it has a unit."""
    for line in host.read("/proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        if name == key:
            return int(rest.split()[0])
    raise ProbeUnavailable(f"/proc/meminfo: no {key}")
