"""GPU links: PCI Express and NVLink."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, NotApplicable, check, found
from greenroom.checks.gpus import Survey, no_gpus
from greenroom.model.results import Finding
from greenroom.model.words import Stage
from greenroom.probes.host import Host
from greenroom.probes.nvml import Gpu

IDLE = 0x1  # nvmlClocksEventReasonGpuIdle


@check(
    "gpu_links.pcie",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.pcie.downgraded"},
    expects={"gpu.count", "gpu.pcie_gen_min", "gpu.pcie_width_min"},
    vendors={"amd", "nvidia"},
)
def pcie(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Every GPU's PCI Express link has its full width and generation.

    The generation in use drops while a GPU is idle, to save power; so an idle GPU is held to what
    its link can do, a busy one to what it does.
    """
    if reason := no_gpus(facts, expected):
        return reason
    survey = Survey(facts, expected)
    for name in ("pcie_gen", "pcie_gen_max", "pcie_width_max", "clock_reasons"):
        survey.read(name)
    for gpu, width in survey.read("pcie_width"):
        wanted = expected.number("gpu.pcie_width_min") or gpu.pcie_width_max or 0
        if width < wanted:
            survey.findings.append(_narrow(gpu, f"x{width}", f"x{wanted:g}", expected, "gpu.pcie_width_min"))
        idle = gpu.clock_reasons is None or bool(gpu.clock_reasons & IDLE)
        gen = gpu.pcie_gen_max if idle else gpu.pcie_gen
        best = expected.number("gpu.pcie_gen_min") or gpu.pcie_gen_max or 0
        if gen is not None and gen < best:
            survey.findings.append(_narrow(gpu, f"gen {gen}", f"gen {best:g}", expected, "gpu.pcie_gen_min"))
    return survey.conclude()


@check(
    "gpu_links.nvlink",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.nvlink.down"},
    expects={"gpu.count", "gpu.nvlinks_min"},
    vendors={"amd", "nvidia"},
)
def nvlink(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """As many NVLinks are up on every GPU as its model should have."""
    if reason := no_gpus(facts, expected):
        return reason
    threshold = expected["gpu.nvlinks_min"]
    if not isinstance(threshold.value, int):
        return NotApplicable("nothing says how many NVLinks this machine should have")
    survey = Survey(facts, expected)
    for gpu, up in survey.read("nvlinks_up"):
        if up < threshold.value:
            survey.findings.append(
                found(
                    "gpu.nvlink.down",
                    subject=gpu.label,
                    message=f"{up} NVLinks are up, expected {threshold.value}",
                    measured=str(up),
                    threshold=threshold,
                )
            )
    return survey.conclude()


@check(
    "gpu_links.replays",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.pcie.replays"},
    expects={"gpu.count", "gpu.pcie_replays_max"},
    stage=Stage.WARN,
    vendors={"nvidia"},
)
def replays(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Few packets were sent again over PCI Express since the driver was loaded."""
    if reason := no_gpus(facts, expected):
        return reason
    survey = Survey(facts, expected)
    survey.limit(
        "pcie_replays", "gpu.pcie.replays", "gpu.pcie_replays_max", "{value} packets were sent again"
    )
    return survey.conclude()


def _narrow(gpu: Gpu, measured: str, wanted: str, expected: Expected, name: str) -> Finding:
    return found(
        "gpu.pcie.downgraded",
        subject=gpu.label,
        message=f"PCI Express link at {measured}, expected {wanted}",
        measured=measured,
        threshold=expected[name] if expected[name].value is not None else None,
        evidence=(f"{gpu.pci}: gen {gpu.pcie_gen} of {gpu.pcie_gen_max}, x{gpu.pcie_width}",),
    )
