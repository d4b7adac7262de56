"""InfiniBand and RoCE ports as the kernel shows them (kernel ABI, stable/sysfs-class-infiniband)."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.model.results import Finding, Json
from greenroom.probes.host import Host, ProbeUnavailable

ROOT = "/sys/class/infiniband"


@check(
    "infiniband.ports",
    cost_s=0.05,
    detects={"ib.port.down", "ib.port.slow"},
    expects={"infiniband.ports", "infiniband.rate_gbps_min"},
)
def ports(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Expected ports are active with their link up; every active port has its rate.

    A port that is down and that nobody expects is a free port. On Ethernet (RoCE) a port has no LID
    and no subnet manager: their absence is no fault.
    """
    wanted = expected.texts("infiniband.ports")
    seen = [
        path.removesuffix("/state").removeprefix(f"{ROOT}/") for path in host.glob(f"{ROOT}/*/ports/*/state")
    ]
    names = sorted({*(path.replace("/ports/", "/") for path in seen), *wanted})
    if not names:
        return NotApplicable("no InfiniBand device is here, and none is expected")
    looked: Json = {}
    findings: list[Finding] = []
    for name in names:
        state, physical = _word(host, name, "state"), _word(host, name, "phys_state")
        rate_gbps = _rate(host, name)
        looked[name] = {"state": state, "physical": physical, "rate_gbps": rate_gbps}
        if state != "ACTIVE" or physical not in ("LinkUp", ""):
            if name in wanted:
                findings.append(
                    found(
                        "ib.port.down",
                        subject=name,
                        message=f"port is {state or 'absent'} ({physical or 'no physical state'})",
                        measured=state or "absent",
                        threshold=expected["infiniband.ports"],
                    )
                )
            continue
        slowest = expected.number("infiniband.rate_gbps_min")
        if slowest is not None and rate_gbps is not None and rate_gbps < slowest:
            findings.append(
                found(
                    "ib.port.slow",
                    subject=name,
                    message=f"port at {rate_gbps:g} Gbit/s, expected {slowest:g}",
                    measured=f"{rate_gbps:g} Gbit/s",
                    threshold=expected["infiniband.rate_gbps_min"],
                )
            )
    return Looked(looked=looked, findings=tuple(findings))


def _word(host: Host, name: str, field: str) -> str:
    """``4: ACTIVE`` -> ``ACTIVE``; empty if the port is not there."""
    text = _text(host, name, field)
    return text.partition(":")[2].strip() or text


def _rate(host: Host, name: str) -> float | None:
    """``400 Gb/sec (4X NDR)`` -> 400."""
    words = _text(host, name, "rate").split()
    try:
        return float(words[0]) if words else None
    except ValueError:
        return None


def _text(host: Host, name: str, field: str) -> str:
    device, _, port = name.partition("/")
    try:
        return host.read(f"{ROOT}/{device}/ports/{port}/{field}").strip()
    except ProbeUnavailable:
        return ""
