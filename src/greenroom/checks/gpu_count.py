"""Do all GPUs answer?"""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, check, found
from greenroom.checks.gpus import no_gpus
from greenroom.probes.host import Host, ProbeUnavailable
from greenroom.probes.nvml import LOST, Driver

DECLARED = "are expected"
PLACES = {
    "gpus_on_bus": "are on the PCI bus",
    "gpus_in_proc": "are in the driver's list",
    "device_nodes": "have a device node",
}
"""Reading -> where else GPUs are counted."""


@check(
    "gpu_count.all_answer",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.missing", "gpu.lost", "gpu.reset_required"},
    expects={"gpu.count"},
    vendors={"amd", "nvidia"},
)
def all_answer(facts: Facts, host: Host, expected: Expected) -> Answer:
    """As many GPUs answer as are declared, and none of them is lost or waits for a reset.

    The number is declared (``--expect-gpus``, an expectations file): what this machine shows of itself may
    lack the very GPU that is gone. Where nobody declared it, fewer answers than the PCI bus, the driver's own
    list or the device nodes have are a fault all the same, and as many are no proof.
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
    silent = [gpu for gpu in facts.gpus.gpus if "handle" in gpu.errors and not gpu.trouble]
    listed = len(facts.gpus.gpus) - len(silent)
    elsewhere = _elsewhere(facts, host)
    declared = expected.number("gpu.count")
    most = max(elsewhere, key=lambda place: elsewhere[place])
    wanted, where = (elsewhere[most], PLACES[most]) if declared is None else (int(declared), DECLARED)
    if silent or listed < wanted:
        findings.append(
            found(
                "gpu.missing",
                subject="gpus",
                message=f"{listed} GPUs answer, {max(wanted, len(facts.gpus.gpus))} {where}",
                measured=str(listed),
                threshold=expected["gpu.count"] if declared is not None else None,
                evidence=tuple(f"{gpu.label}: {gpu.errors['handle']}" for gpu in silent),
            )
        )
    if declared is None and not findings:
        raise ProbeUnavailable(
            f"{listed} GPUs answer, and nothing says how many there should be: --expect-gpus {listed}, or add"
            f" to an expectations file (--expected), the number checked:\n[gpu]\ncount = {listed}"
        )
    looked = {"gpus": listed, "gpus_expected": wanted, **elsewhere}
    return Looked(looked=looked, findings=tuple(findings))


def _elsewhere(facts: Facts, host: Host) -> dict[str, int]:
    """Each of PLACES -> how many. In a container there may be fewer device nodes than GPUs."""
    nodes = [path for path in host.glob("/dev/nvidia*") if path.removeprefix("/dev/nvidia").isdigit()]
    return {
        "gpus_on_bus": facts.gpus_on_bus,
        "gpus_in_proc": len(host.glob("/proc/driver/nvidia/gpus/*")),
        "device_nodes": len(nodes),
    }
