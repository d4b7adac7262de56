"""The running kernel: what it went through, which it is, and how it treats jobs."""

from __future__ import annotations

import re

from greenroom.checks.expectations import Expected, Threshold
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.memory_state import TAINTED
from greenroom.checks.optional import number_of, read_number, read_text, split_pairs
from greenroom.model.results import Finding, Json
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

# Taint flags that tell of trouble (kernel, admin-guide/tainted-kernels). The others tell of modules, and
# bit 4 (machine check) is for memory.machine_checks.
DAMAGED = {5: "a bad page", 7: "an oops (it died in part)", 14: "a soft lockup"}
WARNED = {9: "a warning"}
CGROUP_2 = "/sys/fs/cgroup/cgroup.controllers"
THP = "/sys/kernel/mm/transparent_hugepage/enabled"
LIMITS = {
    "nofile": "Max open files",
    "nproc": "Max processes",
    "stack": "Max stack size",
    "core": "Max core file size",
}
_CHOSEN = re.compile(r"\[(\w+)\]")


@check(
    "kernel.taint",
    cost_s=0.01,
    detects={"host.kernel.tainted", "host.kernel.damaged"},
    stage=Stage.WARN,
)
def taint(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """The kernel has met no oops, lockup or bad page since the boot. Modules from outside are no matter."""
    flags = read_number(host, TAINTED)
    if flags is None:
        raise ProbeUnavailable(f"{TAINTED}: cannot be read")
    findings = []
    for code, meanings in (("host.kernel.damaged", DAMAGED), ("host.kernel.tainted", WARNED)):
        met = [text for bit, text in meanings.items() if flags >> bit & 1]
        if met:
            message = f"since the boot the kernel has met {', '.join(met)}"
            findings.append(found(code, subject="kernel", message=message, measured=str(flags)))
    return Looked(looked={"tainted": flags}, findings=tuple(findings))


@check(
    "kernel.version",
    cost_s=0.01,
    detects={"host.kernel.version"},
    expects={"kernel.version"},
    stage=Stage.WARN,
)
def version(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """The kernel is the one the drivers were built and tested with."""
    wanted = expected["kernel.version"]
    if wanted.value is None:
        return NotApplicable("no kernel is expected")
    release = host.read("/proc/sys/kernel/osrelease").strip()
    right = release == wanted.value or release.startswith((f"{wanted.value}.", f"{wanted.value}-"))
    return _as_expected("host.kernel.version", "kernel", release, wanted, right=right)


@check(
    "kernel.cgroup", cost_s=0.01, detects={"host.kernel.cgroup"}, expects={"kernel.cgroup"}, stage=Stage.WARN
)
def cgroup(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Control groups are of the version that scheduler and container runtime are set up for."""
    wanted = expected["kernel.cgroup"]
    there = host.exists("/sys/fs/cgroup")
    seen = 2 if host.exists(CGROUP_2) else 1
    if wanted.value is None:
        looked = {"cgroup": seen} if there else {}
        return NotApplicable("control groups may be of either version", looked=looked)
    if not there:
        raise ProbeUnavailable("/sys/fs/cgroup: is not there")
    return _as_expected("host.kernel.cgroup", "cgroup", str(seen), wanted, right=seen == wanted.value)


@check("kernel.thp", cost_s=0.01, detects={"host.kernel.thp"}, expects={"kernel.thp"}, stage=Stage.WARN)
def thp(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Transparent huge pages are set as the site has chosen."""
    wanted = expected["kernel.thp"]
    chosen = _CHOSEN.search(read_text(host, THP))
    if wanted.value is None:
        seen = {"thp": chosen[1]} if chosen else {}
        return NotApplicable("no setting of transparent huge pages is expected", looked=seen)
    if not chosen:
        raise ProbeUnavailable(f"{THP}: marks no choice")
    return _as_expected("host.kernel.thp", "thp", chosen[1], wanted, right=chosen[1] == wanted.value)


def _as_expected(code: str, subject: str, seen: str, wanted: Threshold, *, right: bool) -> Looked:
    findings: tuple[Finding, ...] = ()
    if not right:
        message = f"is {seen}, expected {wanted.text}"
        findings = (found(code, subject=subject, message=message, measured=seen, threshold=wanted),)
    return Looked(looked={subject: seen}, findings=findings)


@check("limits.jobs", cost_s=0.01, detects={"host.limits.job"}, expects={"limits.job_min"}, stage=Stage.WARN)
def limits(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Open files, processes, stack and core size have room for jobs: as this process has them."""
    wanted = split_pairs(expected.texts("limits.job_min"))
    if not wanted:
        return NotApplicable("no limit is expected")
    rows = read_text(host, "/proc/self/limits").splitlines()
    looked: Json = {}
    findings: list[Finding] = []
    for name, text in wanted.items():
        title = LIMITS.get(name)
        row = next((row for row in rows if title and row.startswith(title)), "")
        if not title or not row:
            raise ProbeUnavailable(
                f"limits.job_min: {name!r:.40} is none of {', '.join(LIMITS)}, or not shown"
            )
        soft = row.removeprefix(title).split()[0]
        looked[name] = soft
        if soft != "unlimited" and (text == "unlimited" or float(soft) < number_of(text, "limits.job_min")):
            findings.append(
                found(
                    "host.limits.job",
                    subject=name,
                    message=f"{title} is {soft}, expected {text}",
                    measured=soft,
                    threshold=expected["limits.job_min"],
                )
            )
    return Looked(looked=looked, findings=tuple(findings))
