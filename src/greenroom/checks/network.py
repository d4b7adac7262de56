"""Network links as the kernel shows them (/sys/class/net, kernel ABI sysfs-class-net)."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.model.results import Finding, Json
from greenroom.probes.host import Host, ProbeUnavailable

ROOT = "/sys/class/net"


@check(
    "network.links",
    cost_s=0.02,
    detects={"net.link.down", "net.link.slow", "net.link.flapping"},
    expects={"network.links", "network.speed_mbps_min", "network.carrier_changes_max"},
)
def links(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Expected interfaces are up; every physical link that is up has its speed and does not flap.

    A physical link that is down and that nobody expects is a free port. Virtual interfaces (no
    device behind them) are not looked at unless they are expected.
    """
    wanted = expected.texts("network.links")
    physical = [path.split("/")[-2] for path in host.glob(f"{ROOT}/*/device")]
    names = sorted({*physical, *wanted})
    if not names:
        return NotApplicable("no physical network interface is here, and none is expected")
    looked: Json = {}
    findings: list[Finding] = []
    for name in names:
        state = _read(host, name, "operstate") or "absent"
        speed_mbps = _number(_read(host, name, "speed"))
        changes = _number(_read(host, name, "carrier_changes"))
        looked[name] = {"state": state, "speed_mbps": speed_mbps, "carrier_changes": changes}
        if state not in ("up", "unknown"):  # "unknown": the driver does not track it, the link may be used
            if name in wanted:
                findings.append(
                    found(
                        "net.link.down",
                        subject=name,
                        message=f"link is {state}",
                        measured=state,
                        threshold=expected["network.links"],
                    )
                )
            continue
        findings += _judge_up(name, speed_mbps, changes, expected)
    return Looked(looked=looked, findings=tuple(findings))


def _judge_up(name: str, speed_mbps: int | None, changes: int | None, expected: Expected) -> list[Finding]:
    findings = []
    slowest = expected.number("network.speed_mbps_min")
    if slowest is not None and speed_mbps is not None and speed_mbps < slowest:
        findings.append(
            found(
                "net.link.slow",
                subject=name,
                message=f"link at {speed_mbps} Mbit/s, expected {slowest:g}",
                measured=f"{speed_mbps} Mbit/s",
                threshold=expected["network.speed_mbps_min"],
            )
        )
    most = expected.number("network.carrier_changes_max")
    if most is not None and changes is not None and changes > most:
        findings.append(
            found(
                "net.link.flapping",
                subject=name,
                message=f"link changed {changes} times since the boot",
                measured=str(changes),
                threshold=expected["network.carrier_changes_max"],
            )
        )
    return findings


def _read(host: Host, name: str, field: str) -> str | None:
    """Text of a field; a link that is down or virtual answers some of them with an error."""
    try:
        return host.read(f"{ROOT}/{name}/{field}").strip()
    except ProbeUnavailable:
        return None


def _number(text: str | None) -> int | None:
    """A count or speed; -1 is the kernel's "not known"."""
    return int(text) if text and text.isdigit() else None
