"""The NVLink fabric behind NVSwitches: has every GPU joined it, and well?"""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.gpus import Survey, no_gpus
from greenroom.model.results import Finding
from greenroom.probes.host import Host, ProbeUnavailable
from greenroom.probes.nvml import Gpu

COMPLETED = 3
STATES = {1: "not started", 2: "in progress"}
# nvmlGpuFabricInfo_v2_t, healthMask: shift -> what a 1 in its two bits says.
HEALTH = {
    0: "degraded bandwidth",
    2: "route recovery under way",
    4: "unhealthy route",
    6: "access timeout recovery",
}
CONFIGURATION_SHIFT, CONFIGURATION_MASK, CONFIGURATION_GOOD = 8, 0xF, (0, 1)
MANAGER = "nvidia-fabricmanager"


@check(
    "gpu_fabric.state",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.fabric.not_joined", "fabric.status", "fabric.degraded", "fabric.service.failed"},
    expects={"gpu.count"},
    vendors={"nvidia"},
)
def state(facts: Facts, host: Host, expected: Expected) -> Answer:
    """Every GPU behind NVSwitches has joined the fabric with a good status, and its fabric is healthy.

    "Completed" alone says nothing: the status beside it may be an error. A GPU that has not joined gives
    CUDA error 802 to every program.
    """
    if reason := no_gpus(facts, expected):
        return reason
    survey = Survey(facts, expected)
    statuses = {gpu.index: status for gpu, status in survey.read("fabric_status")}
    masks = {gpu.index: mask for gpu, mask in survey.read("fabric_health")}
    joined = 0
    for gpu, found_state in survey.read("fabric_state"):
        joined += found_state != 0
        survey.findings += _of(gpu, found_state, statuses.get(gpu.index, 0), masks.get(gpu.index, 0))
    answer = survey.conclude()
    if isinstance(answer, NotApplicable) or (not joined and not survey.findings):
        return NotApplicable("the GPUs of this machine are not part of a fabric")
    if any(one.code == "gpu.fabric.not_joined" for one in answer.findings) and (finding := _manager(host)):
        return Looked(looked=answer.looked, findings=(finding, *answer.findings))
    return answer


def _of(gpu: Gpu, found_state: int, status: int, mask: int) -> list[Finding]:
    if found_state in STATES:
        message = f"registration with the fabric: {STATES[found_state]}"
        return [
            found("gpu.fabric.not_joined", subject=gpu.label, message=message, measured=STATES[found_state])
        ]
    if found_state == COMPLETED and status:
        message = f"registration with the fabric completed with NVML error {status}"
        return [found("fabric.status", subject=gpu.label, message=message, measured=str(status))]
    words = [word for shift, word in HEALTH.items() if mask >> shift & 0b11 == 1]
    if (mask >> CONFIGURATION_SHIFT & CONFIGURATION_MASK) not in CONFIGURATION_GOOD:
        words.append(f"wrong configuration ({mask >> CONFIGURATION_SHIFT & CONFIGURATION_MASK})")
    if not words:
        return []
    return [found("fabric.degraded", subject=gpu.label, message=", ".join(words), measured=f"{mask:#x}")]


def _manager(host: Host) -> Finding | None:
    """Whether the service that forms the fabric runs; asked only when a GPU waits for it."""
    try:
        ran = host.run(["systemctl", "is-active", MANAGER], timeout_s=5)
    except ProbeUnavailable:
        return None
    said = ran.stdout.strip()
    if said == "active" or not said:
        return None
    return found("fabric.service.failed", subject=MANAGER, message=f"the service is {said}", measured=said)
