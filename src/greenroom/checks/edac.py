"""Memory errors that the kernel's EDAC drivers have counted (Documentation/driver-api/edac.rst)."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.model.results import Finding, Json
from greenroom.probes.host import Host

ROOT = "/sys/devices/system/edac/mc"


@check(
    "memory.edac",
    cost_s=0.02,
    detects={"host.edac.ue", "host.edac.ce"},
    expects={"memory.edac_corrected_max"},
)
def edac(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """No uncorrectable memory error since the boot, and few corrected ones."""
    controllers = host.glob(f"{ROOT}/mc*/ue_count")
    if not controllers:
        return NotApplicable("no EDAC driver counts memory errors here")
    limit = expected.number("memory.edac_corrected_max")
    looked: Json = {}
    findings: list[Finding] = []
    for path in controllers:
        name = path.split("/")[-2]
        wrong, corrected = int(host.read(path)), int(host.read(path.replace("ue_count", "ce_count")))
        looked[name] = {"uncorrected": wrong, "corrected": corrected}
        if wrong:
            message = f"{wrong} uncorrectable memory errors since the boot"
            findings.append(found("host.edac.ue", subject=name, message=message, measured=str(wrong)))
        elif limit is not None and corrected > limit:
            findings.append(
                found(
                    "host.edac.ce",
                    subject=name,
                    message=f"{corrected} corrected memory errors since the boot",
                    measured=str(corrected),
                    threshold=expected["memory.edac_corrected_max"],
                )
            )
    return Looked(looked=looked, findings=tuple(findings))
