"""What the driver itself asks for, and whether RDMA can reach the GPUs."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.gpus import Survey, answering, no_gpus
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

DMA_BUF_KERNEL = (5, 12)
"""First kernel with which the open driver shares GPU memory by DMA-BUF (NVIDIA GPU Operator guide)."""


@check(
    "gpu_recovery.action",
    needs={"nvml"},
    cost_s=0.01,
    detects={f"gpu.recovery.{what}" for what in ("reset", "reboot", "drain", "other")},
    expects={"gpu.count"},
    vendors={"nvidia"},
)
def action(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """The driver asks for no recovery of a GPU: its word outranks our tables.

    Drivers number the actions differently from branch to branch.
    """
    if reason := no_gpus(facts, expected):
        return reason
    survey = Survey(facts, expected)
    branch = facts.gpus.version.partition(".")[0]
    for gpu, number in survey.read("recovery"):
        if number:
            from greenroom.policy.xid_rules import VERDICTS, verdict_of  # noqa: PLC0415 - a healthy node pays nothing

            code, words = VERDICTS[verdict_of(number, int(branch) if branch.isdecimal() else 0)]
            survey.findings.append(
                found(code, subject=gpu.label, message=f"the driver {words}", measured=str(number))
            )
    return survey.conclude()


@check(
    "gpu_direct.module",
    cost_s=0.01,
    detects={"gpu.direct.missing"},
    expects={"gpu.count"},
    stage=Stage.WARN,
    vendors={"nvidia"},
)
def module(facts: Facts, host: Host, expected: Expected) -> Answer:
    """RDMA adapters can reach GPU memory: by the peer memory module, or by DMA-BUF of the open driver."""
    if reason := no_gpus(facts, expected):
        return reason
    answering(facts)
    adapters = host.glob("/sys/class/infiniband/mlx5_*")
    if not adapters:
        return NotApplicable("no RDMA adapter is here")
    modules = [name for name in ("nvidia_peermem", "nv_peer_mem") if host.exists(f"/sys/module/{name}")]
    dma_buf = _dma_buf(host)
    looked = {"adapters": len(adapters), "modules": modules, "dma_buf": dma_buf}
    if modules or dma_buf:
        return Looked(looked=looked)
    message = "nvidia_peermem is not loaded, and this driver and kernel cannot share GPU memory otherwise"
    return Looked(looked=looked, findings=(found("gpu.direct.missing", subject="gpus", message=message),))


def _dma_buf(host: Host) -> bool:
    try:
        open_driver = "Open Kernel Module" in host.read("/proc/driver/nvidia/version")
        release = host.read("/proc/sys/kernel/osrelease").split(".")
        return open_driver and (int(release[0]), int(release[1])) >= DMA_BUF_KERNEL
    except (ProbeUnavailable, ValueError, IndexError):
        return False
