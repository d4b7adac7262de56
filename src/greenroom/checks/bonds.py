"""Network bonds, as /proc/net/bonding shows them (kernel, networking/bonding)."""

from __future__ import annotations

import re

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.optional import number_of, read_number, read_text
from greenroom.model.results import Finding, Json
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

ROOT = "/proc/net/bonding"
NET = "/sys/class/net"
LACP = "802.3ad"
_NO_PARTNER = re.compile(r"Partner Mac Address: 00:00:00:00:00:00")
STATES = ("nic.bond.down", "nic.bond.member_down", "nic.bond.split")
"""What the parser of the text can see and counts here; how often a link failed is another check's."""


@check(
    "bonds.members",
    cost_s=0.01,
    detects={*STATES, "nic.bond.mode", "nic.bond.no_partner"},
    expects={"network.bond_mode"},
    stage=Stage.WARN,
)
def members(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Every member of every bond is up, in one aggregate with the others, and has a partner under LACP."""
    names = [path.split("/")[-1] for path in host.glob(f"{ROOT}/*")]
    if not names:
        return NotApplicable("no bond is set up here")
    from greenroom.parsers import bond as parser  # noqa: PLC0415 - only where there is a bond

    looked: Json = {}
    findings: list[Finding] = []
    for name in names:
        text = host.read(f"{ROOT}/{name}")
        bond = parser.parse_bond(text)
        if not bond.members and bond.status == "up":
            raise ProbeUnavailable(f"{ROOT}/{name}: shows no member of the bond")
        looked[name] = {"mode": bond.mode, "members": {one.name: one.status for one in bond.members}}
        if not bond.members and bond.status != "up" and not read_text(host, f"{NET}/{name}/bonding/slaves"):
            continue  # made, and never filled: nobody uses it
        findings += [
            found(
                one.code,
                subject=f"{name}/{one.device}".rstrip("/"),
                message=one.evidence,
                measured=one.evidence,
            )
            for one in parser.read(text).sightings
            if one.code in STATES
        ]
        findings += _judge_mode(name, bond.mode, text, expected)
    return Looked(looked=looked, findings=tuple(findings))


def _judge_mode(name: str, mode: str, text: str, expected: Expected) -> list[Finding]:
    wanted = expected["network.bond_mode"]
    findings = []
    if isinstance(wanted.value, str) and wanted.value.lower() not in mode.lower():
        findings.append(
            found(
                "nic.bond.mode",
                subject=name,
                message=f"mode is {mode!r}, expected {wanted.value}",
                measured=mode,
                threshold=wanted,
            )
        )
    if LACP in mode and _NO_PARTNER.search(text):
        message = "LACP has no partner at the other end"
        findings.append(
            found("nic.bond.no_partner", subject=name, message=message, measured="00:00:00:00:00:00")
        )
    return findings


@check("bonds.mtu", cost_s=0.01, detects={"nic.mtu"}, expects={"network.mtu"}, stage=Stage.WARN)
def mtu(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Interfaces have the expected MTU, and no member of a bond a smaller one than its bond."""
    wanted = dict(text.split("=", 1) for text in expected.texts("network.mtu") if "=" in text)
    looked: Json = {}
    findings: list[Finding] = []
    for name, text in wanted.items():
        size = read_number(host, f"{NET}/{name}/mtu")
        looked[name] = size
        if size is None or size != number_of(text, "network.mtu"):
            findings.append(
                found(
                    "nic.mtu",
                    subject=name,
                    message=f"MTU is {size or 'not there'}, expected {text}",
                    measured=str(size or "absent"),
                    threshold=expected["network.mtu"],
                )
            )
    for path in host.glob(f"{NET}/*/bonding/slaves"):
        bond = path.split("/")[-3]
        size = read_number(host, f"{NET}/{bond}/mtu")
        for name in read_text(host, path).split():
            own = read_number(host, f"{NET}/{name}/mtu")
            looked[f"{bond}/{name}"] = own
            if own is not None and size is not None and own < size:
                message = f"MTU is {own}, that of {bond} is {size}"
                findings.append(found("nic.mtu", subject=name, message=message, measured=str(own)))
    if not looked:
        return NotApplicable("no MTU is expected, and there is no bond whose members could differ")
    return Looked(looked=looked, findings=tuple(findings))
