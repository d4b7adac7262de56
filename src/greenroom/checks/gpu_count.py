"""Do all GPUs answer?"""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.gpus import no_gpus, wanted_gpus
from greenroom.probes.host import Host, ProbeUnavailable
from greenroom.probes.nvml import LOST, Driver


@check(
    "gpu_count.all_answer",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.missing", "gpu.lost", "gpu.reset_required"},
    expects={"gpu.count"},
    vendors={"amd", "nvidia"},
)
def all_answer(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001 - one signature
    """As many GPUs answer as the machine should have, and none of them is lost or waits for a reset.

    The number is told (``--expect-gpus``, an expectations file), else counted on the PCI bus.
    """
    if reason := no_gpus(facts, expected):
        return reason
    if facts.gpus.driver is not Driver.OK:
        raise ProbeUnavailable(facts.gpus.message or facts.gpus.driver.value)
    findings = [
        found(
            "gpu.lost" if gpu.trouble == LOST else "gpu.reset_required",
            subject=gpu.label,
            message=f"the driver says: {gpu.trouble}",
            measured=gpu.trouble,
        )
        for gpu in facts.gpus.gpus
        if gpu.trouble
    ]
    wanted = wanted_gpus(facts, expected)
    silent = [gpu for gpu in facts.gpus.gpus if "handle" in gpu.errors and not gpu.trouble]
    listed = len(facts.gpus.gpus) - len(silent)
    if silent or (wanted is not None and listed < wanted):
        findings.append(
            found(
                "gpu.missing",
                subject="gpus",
                message=f"{listed} GPUs answer, {wanted or len(facts.gpus.gpus)} are expected",
                measured=str(listed),
                threshold=expected["gpu.count"] if expected["gpu.count"].value is not None else None,
                evidence=tuple(f"{gpu.label}: {gpu.errors['handle']}" for gpu in silent),
            )
        )
    if wanted is None and not findings:
        return NotApplicable(f"{listed} GPUs answer, but nothing says how many are expected")
    return Looked(
        looked={"gpus": listed, "gpus_expected": wanted, "gpus_on_bus": facts.gpus_on_bus},
        findings=tuple(findings),
    )
