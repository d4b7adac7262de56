"""InfiniBand and RoCE ports as the kernel shows them (kernel ABI, stable/sysfs-class-infiniband)."""

from __future__ import annotations

import re

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.optional import read_text
from greenroom.model.results import Finding, Json
from greenroom.probes.host import Host

ROOT = "/sys/class/infiniband"
_RATE = re.compile(r"(?P<gbps>\d+(?:\.\d+)?) Gb/sec(?: \((?P<lanes>\d+)X)?")


@check(
    "infiniband.ports",
    cost_s=0.05,
    detects={
        "ib.port.down",
        "ib.port.slow",
        "ib.port.layer",
        "ib.port.init",
        "ib.port.recovery",
        "ib.port.no_sm",
        "ib.missing",
    },
    expects={
        "infiniband.ports",
        "infiniband.rate_gbps_min",
        "infiniband.lanes_min",
        "infiniband.link_layer",
        "infiniband.count",
    },
)
def ports(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Expected ports are active with their link up; every active port has its rate, lanes and link layer.

    A port that is down and that nobody expects is a free port. On Ethernet (RoCE) a port has no LID
    and no subnet manager: their absence is no fault. That the network interface of an InfiniBand port
    is down says nothing of the port: it is not looked at.
    """
    wanted = expected.texts("infiniband.ports")
    count = expected.number("infiniband.count")
    seen = [
        path.removesuffix("/state").removeprefix(f"{ROOT}/") for path in host.glob(f"{ROOT}/*/ports/*/state")
    ]
    names = sorted({*(path.replace("/ports/", "/") for path in seen), *wanted})
    if not names and not count:
        return NotApplicable("no InfiniBand device is here, and none is expected")
    devices = {path.split("/")[0] for path in seen}
    looked: Json = {"devices": len(devices)}
    findings: list[Finding] = []
    if count is not None and len(devices) < count:
        findings.append(
            found(
                "ib.missing",
                subject="infiniband",
                message=f"{len(devices)} devices, {count:g} are expected",
                measured=str(len(devices)),
                threshold=expected["infiniband.count"],
            )
        )
    for name in names:
        port = _read_port(host, name)
        looked[name] = port
        findings += _judge(name, port, expected, wanted=name in wanted)
    return Looked(looked=looked, findings=tuple(findings))


def _read_port(host: Host, name: str) -> Json:
    # What a port without a link shows is nothing of this machine: it must not be learnt from it.
    state, physical = _word(host, name, "state"), _word(host, name, "phys_state")
    rate = _RATE.match(_text(host, name, "rate")) if state == "ACTIVE" else None
    return {
        "state": state,
        "physical": physical,
        "rate_gbps": float(rate["gbps"]) if rate else None,
        "lanes": int(rate["lanes"]) if rate and rate["lanes"] else None,
        "layer": _text(host, name, "link_layer") if state == "ACTIVE" or physical == "LinkUp" else None,
        "sm_lid": _text(host, name, "sm_lid"),
    }


def _judge(name: str, port: Json, expected: Expected, *, wanted: bool) -> list[Finding]:
    state, physical = port["state"], port["physical"]
    if state == "ACTIVE" and physical in ("LinkUp", ""):
        return _judge_active(name, port, expected)
    if wanted:
        message = f"port is {state or 'absent'} ({physical or 'no physical state'})"
        threshold = expected["infiniband.ports"]
        measured = state or "absent"
        return [found("ib.port.down", subject=name, message=message, measured=measured, threshold=threshold)]
    if physical == "LinkErrorRecovery":
        return [
            found("ib.port.recovery", subject=name, message="the link is being repaired", measured=physical)
        ]
    if state in ("INIT", "ARMED") and physical == "LinkUp" and port["layer"] != "Ethernet":
        message = f"the cable is in and the port stays {state}: no subnet manager has set it up"
        return [found("ib.port.init", subject=name, message=message, measured=state)]
    return []


def _judge_active(name: str, port: Json, expected: Expected) -> list[Finding]:
    findings = []
    for field, limit_name, unit in (
        ("rate_gbps", "infiniband.rate_gbps_min", "Gbit/s"),
        ("lanes", "infiniband.lanes_min", "lanes"),
    ):
        least, value = expected.number(limit_name), port[field]
        if least is not None and value is not None and value < least:
            findings.append(
                found(
                    "ib.port.slow",
                    subject=name,
                    message=f"port at {value:g} {unit}, expected {least:g}",
                    measured=f"{value:g} {unit}",
                    threshold=expected[limit_name],
                )
            )
    layer = expected["infiniband.link_layer"]
    if layer.value is not None and port["layer"] and port["layer"] != layer.value:
        message = f"link layer is {port['layer']}, expected {layer.value}"
        findings.append(
            found("ib.port.layer", subject=name, message=message, measured=port["layer"], threshold=layer)
        )
    if port["layer"] == "InfiniBand" and port["sm_lid"] == "0x0":
        message = "the port is active and knows no subnet manager"
        findings.append(found("ib.port.no_sm", subject=name, message=message, measured="sm_lid 0"))
    return findings


def _word(host: Host, name: str, field: str) -> str:
    """``4: ACTIVE`` -> ``ACTIVE``; empty if the port is not there."""
    text = _text(host, name, field)
    return text.partition(":")[2].strip() or text


def _text(host: Host, name: str, field: str) -> str:
    device, _, port = name.partition("/")
    return read_text(host, f"{ROOT}/{device}/ports/{port}/{field}")
