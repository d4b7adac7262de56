"""Network adapters: how many, with which driver and firmware (ethtool -i)."""

from __future__ import annotations

import re

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.network import ROOT
from greenroom.checks.optional import split_pairs
from greenroom.model.results import Finding, Json
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

TOOL_TIMEOUT_S = 5.0
_FIELD = re.compile(r"^(driver|version|firmware-version): *(.*?)\s*$", re.MULTILINE)


@check("network.count", cost_s=0.01, detects={"nic.missing"}, expects={"network.count"})
def count(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """As many physical interfaces are there as were built in."""
    wanted = expected.number("network.count")
    names = [path.split("/")[-2] for path in host.glob(f"{ROOT}/*/device")]
    looked = {"interfaces": names, "count": len(names)}
    if wanted is None:
        return NotApplicable("no number of interfaces is expected", looked=looked)
    findings: tuple[Finding, ...] = ()
    if len(names) < wanted:
        findings = (
            found(
                "nic.missing",
                subject="network",
                message=f"{len(names)} interfaces ({', '.join(names)}), {wanted:g} are expected",
                measured=str(len(names)),
                threshold=expected["network.count"],
            ),
        )
    return Looked(looked=looked, findings=findings)


@check(
    "network.versions",
    needs={"ethtool"},
    cost_s=0.2,
    detects={"nic.driver.version", "nic.firmware", "nic.driver.absent"},
    expects={"network.drivers", "network.firmware"},
    stage=Stage.WARN,
)
def versions(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Drivers and firmware of network adapters are the expected ones; told of each driver by its name."""
    drivers = split_pairs(expected.texts("network.drivers"))
    firmware = split_pairs(expected.texts("network.firmware"))
    if not drivers and not firmware:
        return NotApplicable("no version of a driver or firmware is expected")
    looked: Json = {}
    findings: list[Finding] = []
    for name in [path.split("/")[-2] for path in host.glob(f"{ROOT}/*/device")]:
        ran = host.run(["ethtool", "-i", name], timeout_s=TOOL_TIMEOUT_S)
        fields = dict(_FIELD.findall(ran.stdout))
        if "driver" not in fields:
            raise ProbeUnavailable(f"ethtool -i {name}: {(ran.stderr.strip() or 'no driver shown'):.100}")
        looked[name] = fields
        for code, wanted, field, limit in (
            ("nic.driver.version", drivers, "version", "network.drivers"),
            ("nic.firmware", firmware, "firmware-version", "network.firmware"),
        ):
            right, value = wanted.get(fields["driver"]), fields.get(field, "")
            if right and not value.startswith(right):
                findings.append(
                    found(
                        code,
                        subject=name,
                        message=f"{fields['driver']}: {field} is {value or 'not shown'}, expected {right}",
                        measured=value or "not shown",
                        threshold=expected[limit],
                    )
                )
    seen = {fields["driver"] for fields in looked.values()}
    findings += [
        found(
            "nic.driver.absent",
            subject=driver,
            message=f"no interface uses the driver {driver}",
            measured=", ".join(sorted(seen)) or "no interface",
            threshold=expected["network.drivers" if driver in drivers else "network.firmware"],
        )
        for driver in sorted({*drivers, *firmware} - seen)
    ]
    return Looked(looked=looked or {"interfaces": 0}, findings=tuple(findings))
