"""PCI Express errors since the boot, and how the bus is set up: IOMMU, access control (ACS)."""

from __future__ import annotations

import re

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.optional import read_text
from greenroom.checks.pci import ROOT
from greenroom.model.results import Finding, Json
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

TOOL_TIMEOUT_S = 10.0
_TOTAL = re.compile(r"^TOTAL_ERR_\w+ (\d+)$", re.MULTILINE)
_KIND = re.compile(r"^(\w+) ([1-9]\d*)$", re.MULTILINE)
_BRIDGE = re.compile(r"^(\S+) .{0,40}PCI bridge")
_ACS = re.compile(r"^\s+ACSCtl:\s+SrcValid\+")


def count_errors(host: Host, path: str) -> int | None:
    """The total of an ``aer_dev_*`` file; None if it cannot be read."""
    match = _TOTAL.search(read_text(host, path))
    return int(match[1]) if match else None


@check(
    "pci.errors",
    cost_s=0.03,
    detects={"pcie.aer.fatal", "pcie.aer.nonfatal"},
    expects={"pci.aer_fatal_max", "pci.aer_nonfatal_max"},
    stage=Stage.WARN,
)
def errors(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """No device has had a fatal PCI Express error since the boot (AER counters of the kernel).

    The counters bear no date: whether they, and corrected ones, still grow is for counters.growing.
    """
    looked: Json = {"devices": 0}
    findings: list[Finding] = []
    for kind, limit_name in (("fatal", "pci.aer_fatal_max"), ("nonfatal", "pci.aer_nonfatal_max")):
        limit = expected.number(limit_name)
        paths = host.glob(f"{ROOT}/*/aer_dev_{kind}")
        looked["devices"] = max(looked["devices"], len(paths))
        for path in paths:
            count = count_errors(host, path)
            if not count:
                continue
            name = path.split("/")[-2]
            looked[f"{name} {kind}"] = count
            if limit is not None and count > limit:
                kinds = [f"{what} {times}" for what, times in _KIND.findall(host.read(path))]
                findings.append(
                    found(
                        f"pcie.aer.{kind}",
                        subject=name,
                        message=f"{count} {kind} errors since the boot",
                        measured=str(count),
                        threshold=expected[limit_name],
                        evidence=tuple(one for one in kinds if not one.startswith("TOTAL")),
                    )
                )
    if not looked["devices"]:
        return NotApplicable("the kernel counts no PCI Express errors here")
    return Looked(looked=looked, findings=tuple(findings))


@check("pci.iommu", cost_s=0.02, detects={"host.iommu.mode"}, expects={"pci.iommu"}, stage=Stage.WARN)
def iommu(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """The IOMMU is off, passes devices through (identity), or translates (DMA), as the site has chosen."""
    wanted = expected["pci.iommu"]
    if wanted.value is None:
        return NotApplicable("no mode of the IOMMU is expected")
    groups = [read_text(host, path) for path in host.glob("/sys/kernel/iommu_groups/*/type")]
    modes = sorted(set(filter(None, groups))) or ["off"]
    findings: tuple[Finding, ...] = ()
    if modes != [wanted.value]:
        findings = (
            found(
                "host.iommu.mode",
                subject="iommu",
                message=f"IOMMU groups are {', '.join(modes)}, expected {wanted.value}",
                measured=", ".join(modes),
                threshold=wanted,
            ),
        )
    return Looked(looked={"groups": len(groups), "modes": modes}, findings=findings)


@check(
    "pci.acs",
    needs={"lspci"},
    cost_s=0.5,
    detects={"pcie.acs"},
    expects={"pci.acs_off"},
    stage=Stage.WARN,
)
def acs(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """No bridge sends traffic between devices the long way round through the processor (ACS)."""
    if expected["pci.acs_off"].value is not True:
        return NotApplicable("access control may be as it is: nothing is expected")
    ran = host.run(["lspci", "-vvv"], timeout_s=TOOL_TIMEOUT_S)
    bridges, on, bridge = 0, [], ""
    for line in ran.stdout.splitlines():
        if line and not line[0].isspace():
            match = _BRIDGE.match(line)
            bridge = match[1] if match else ""
            bridges += bool(match)
        elif bridge and _ACS.match(line):
            on.append((bridge, line.strip()))
    if not bridges:
        raise ProbeUnavailable(f"lspci: shows no bridge (exit {ran.rc}): {ran.stderr.strip():.100}")
    if "<access denied>" in ran.stdout and not on:
        raise ProbeUnavailable("lspci: needs root to read the capabilities")
    findings = tuple(
        found("pcie.acs", subject=name, message=line, measured="on", threshold=expected["pci.acs_off"])
        for name, line in on
    )
    return Looked(looked={"bridges": bridges, "with_acs": len(on)}, findings=findings)
