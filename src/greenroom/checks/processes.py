"""Processes that are stuck or were left behind (/proc/PID/stat, proc(5))."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, check, found
from greenroom.model.results import Finding
from greenroom.probes.host import Host, ProbeUnavailable


@check(
    "processes.stuck",
    cost_s=0.3,
    detects={"host.processes.uninterruptible", "host.processes.zombies"},
    expects={"processes.uninterruptible_max", "processes.zombies_max"},
)
def stuck(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Few processes sit in the kernel (state D) or wait to be reaped (state Z).

    A process that is in state D at both of two looks counts: one look finds every short wait for a disk.
    """
    first = _states(host)
    second = _states(host)
    waiting = sorted(first.get("D", {}).keys() & second.get("D", {}).keys())
    zombies = second.get("Z", {})
    findings: list[Finding] = []
    for code, name, pids in (
        ("host.processes.uninterruptible", "processes.uninterruptible_max", waiting),
        ("host.processes.zombies", "processes.zombies_max", sorted(zombies)),
    ):
        limit = expected.number(name)
        if limit is not None and len(pids) > limit:
            known = second.get("D", {}) | zombies
            findings.append(
                found(
                    code,
                    subject="processes",
                    message=f"{len(pids)} processes, e.g. {known[pids[0]]} (pid {pids[0]})",
                    measured=str(len(pids)),
                    threshold=expected[name],
                    evidence=tuple(f"{pid} {known[pid]}" for pid in pids[:5]),
                )
            )
    processes = sum(len(pids) for pids in second.values())
    return Looked(
        looked={"processes": processes, "uninterruptible": len(waiting), "zombies": len(zombies)},
        findings=tuple(findings),
    )


def _states(host: Host) -> dict[str, dict[int, str]]:
    """State -> pid -> name, of all processes; one that ends while we look is passed over."""
    states: dict[str, dict[int, str]] = {}
    for path in host.glob("/proc/[0-9]*/stat"):
        try:
            text = host.read(path)
        except ProbeUnavailable:
            continue
        head, _, rest = text.rpartition(")")
        pid, _, name = head.partition(" (")
        if rest.split() and pid.isdigit():
            states.setdefault(rest.split()[0], {})[int(pid)] = name
    return states
