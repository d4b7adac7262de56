"""How the kernel and the system are set up: modules, command line, sysctls, limits, services, names."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.model.results import Finding
from greenroom.probes.host import Host, ProbeUnavailable

COMMAND_S = 5.0


@check("kernel.modules", cost_s=0.01, detects={"host.kernel.module"}, expects={"kernel.modules"})
def modules(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Every kernel module that jobs need is loaded (nvidia_peermem, ib_core, lustre)."""
    wanted = expected.texts("kernel.modules")
    if not wanted:
        return NotApplicable("no kernel module is expected")
    loaded = {line.split()[0] for line in host.read("/proc/modules").splitlines() if line.strip()}
    # One that is built into the kernel is not in the list, but has a folder.
    missing = [
        name
        for name in wanted
        if name.replace("-", "_") not in loaded and not host.exists(f"/sys/module/{name}")
    ]
    return _lacking("host.kernel.module", missing, "is not loaded", expected, "kernel.modules", len(wanted))


@check("kernel.cmdline", cost_s=0.01, detects={"host.kernel.cmdline"}, expects={"kernel.cmdline"})
def cmdline(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """The kernel was started with the words that the machines are tuned with (iommu=pt)."""
    wanted = expected.texts("kernel.cmdline")
    if not wanted:
        return NotApplicable("no word of the kernel's command line is expected")
    there = set(host.read("/proc/cmdline").split())
    missing = [word for word in wanted if word not in there]
    return _lacking(
        "host.kernel.cmdline", missing, "is not on the command line", expected, "kernel.cmdline", len(wanted)
    )


@check("kernel.sysctl", cost_s=0.01, detects={"host.kernel.sysctl"}, expects={"kernel.sysctl"})
def sysctl(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Kernel settings have the values of the site, each given as ``name=value``."""
    wanted = expected.texts("kernel.sysctl")
    if not wanted:
        return NotApplicable("no sysctl is expected")
    findings = []
    for setting in wanted:
        name, _, value = setting.partition("=")
        seen = " ".join(host.read(f"/proc/sys/{name.strip().replace('.', '/')}").split())
        if seen != value.strip():
            findings.append(
                found(
                    "host.kernel.sysctl",
                    subject=name.strip(),
                    message=f"is {seen}, expected {value.strip()}",
                    measured=seen,
                    threshold=expected["kernel.sysctl"],
                )
            )
    return Looked(looked={"settings": len(wanted)}, findings=tuple(findings))


@check("limits.memlock", cost_s=0.01, detects={"host.limits.memlock"}, expects={"limits.memlock_kib_min"})
def memlock(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Jobs may lock enough memory for RDMA: this process's own limit, so run it as a job."""
    wanted = expected.number("limits.memlock_kib_min")
    if wanted is None:
        return NotApplicable("no limit is expected")
    for line in host.read("/proc/self/limits").splitlines():
        if line.startswith("Max locked memory"):
            soft = line.removeprefix("Max locked memory").split()[0]
            kib = float("inf") if soft == "unlimited" else int(soft) / 1024
            low = kib < wanted
            finding = found(
                "host.limits.memlock",
                subject="memlock",
                message=f"{soft} bytes may be locked",
                measured=soft,
                threshold=expected["limits.memlock_kib_min"],
            )
            return Looked(looked={"memlock_bytes": soft}, findings=(finding,) if low else ())
    raise ProbeUnavailable("/proc/self/limits: no line about locked memory")


@check(
    "services.active",
    cost_s=0.1,
    needs={"systemctl"},
    detects={"host.service.down"},
    expects={"services.active"},
)
def services(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """The services that jobs need are active (nvidia-fabricmanager, munge, chronyd)."""
    wanted = expected.texts("services.active")
    if not wanted:
        return NotApplicable("no service is expected")
    ran = host.run(["systemctl", "is-active", *wanted], timeout_s=COMMAND_S)
    states = ran.stdout.split()
    if len(states) != len(wanted):
        raise ProbeUnavailable(
            f"systemctl: expected {len(wanted)} states, got {ran.stdout!r:.80} {ran.stderr!r:.80}"
        )
    findings = tuple(
        found(
            "host.service.down",
            subject=name,
            message=f"service is {state}",
            measured=state,
            threshold=expected["services.active"],
        )
        for name, state in zip(wanted, states, strict=True)
        if state != "active"
    )
    return Looked(looked=dict(zip(wanted, states, strict=True)), findings=findings)


@check("names.resolve", cost_s=0.1, needs={"getent"}, detects={"host.dns"}, expects={"names.resolve"})
def names(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """The names that jobs need can be resolved."""
    wanted = expected.texts("names.resolve")
    if not wanted:
        return NotApplicable("no name is expected to resolve")
    # getent(1): exit code 2 = not found, anything else is no answer.
    codes = {name: host.run(["getent", "hosts", name], timeout_s=COMMAND_S).rc for name in wanted}
    if odd := {name: rc for name, rc in codes.items() if rc not in (0, 2)}:
        raise ProbeUnavailable(f"getent: exit codes {odd}")
    missing = [name for name, rc in codes.items() if rc == 2]
    return _lacking("host.dns", missing, "does not resolve", expected, "names.resolve", len(wanted))


def _lacking(code: str, missing: list[str], why: str, expected: Expected, name: str, asked: int) -> Looked:
    findings: tuple[Finding, ...] = tuple(
        found(code, subject=one, message=f"{one} {why}", measured="missing", threshold=expected[name])
        for one in missing
    )
    return Looked(looked={"asked": asked}, findings=findings)
