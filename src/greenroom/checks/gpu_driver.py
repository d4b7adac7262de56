"""Is the GPU driver there, whole, and of the expected version?"""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, check, found
from greenroom.checks.gpus import no_gpus
from greenroom.model.results import Finding
from greenroom.probes.host import Host, ProbeUnavailable
from greenroom.probes.nvml import Driver

FAULTS = {
    Driver.NOT_LOADED: "gpu.driver.absent",
    Driver.LIBRARY_MISSING: "gpu.driver.absent",
    Driver.MISMATCH: "gpu.driver.mismatch",
}


@check(
    "gpu_driver.version",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.driver.absent", "gpu.driver.mismatch", "gpu.driver.version"},
    expects={"gpu.count", "gpu.driver_version"},
    vendors={"amd", "nvidia"},
)
def version(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """The driver is loaded, fits its library, and is of the expected version where one is expected.

    A driver that does not answer within the deadline is neither: that is "could not tell".
    """
    if reason := no_gpus(facts, expected):
        return reason
    code = FAULTS.get(facts.gpus.driver)
    if code:
        return Looked(
            looked={"driver": facts.gpus.driver.value},
            findings=(
                found(code, subject="driver", message=facts.gpus.message, measured=facts.gpus.driver.value),
            ),
        )
    if facts.gpus.driver is not Driver.OK:
        raise ProbeUnavailable(facts.gpus.message or facts.gpus.driver.value)
    threshold = expected["gpu.driver_version"]
    wanted = str(threshold.value or "")
    findings: tuple[Finding, ...] = ()
    if wanted and not f"{facts.gpus.version}.".startswith(f"{wanted}."):
        findings = (
            found(
                "gpu.driver.version",
                subject="driver",
                message=f"driver {facts.gpus.version}, expected {wanted}",
                measured=facts.gpus.version,
                threshold=threshold,
            ),
        )
    return Looked(
        looked={"driver_version": facts.gpus.version, "gpus": len(facts.gpus.gpus)}, findings=findings
    )
