"""How the GPUs are set: persistence, compute mode, MIG; and whether something was left on them."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, NotApplicable, check, found
from greenroom.checks.gpus import Survey, answering, no_gpus
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

COMPUTE_MODES = ("default", "exclusive-thread", "prohibited", "exclusive-process")  # nvmlComputeMode_t
ON = {True: "on", False: "off"}


@check(
    "gpu_modes.settings",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.mode.persistence", "gpu.mode.compute", "gpu.mode.mig", "gpu.mode.prohibited"},
    expects={"gpu.count", "gpu.persistence", "gpu.compute_mode", "gpu.mig"},
    stage=Stage.WARN,
    vendors={"nvidia"},
)
def settings(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Persistence, compute mode and MIG are as the site wants them; no GPU is closed to programs."""
    if reason := no_gpus(facts, expected):
        return reason
    survey = Survey(facts, expected)
    for reading, code in (("persistence", "gpu.mode.persistence"), ("mig", "gpu.mode.mig")):
        threshold = expected[f"gpu.{reading}"]
        for gpu, value in survey.read(reading):
            if threshold.value is not None and value is not threshold.value:
                survey.findings.append(
                    found(
                        code,
                        subject=gpu.label,
                        message=f"{reading} is {ON[value]}, expected {ON[bool(threshold.value)]}",
                        measured=ON[value],
                        threshold=threshold,
                    )
                )
    threshold = expected["gpu.compute_mode"]
    for gpu, number in survey.read("compute_mode"):
        mode = COMPUTE_MODES[number] if number < len(COMPUTE_MODES) else str(number)
        wanted = threshold.value
        if mode != (wanted or mode) or (mode == "prohibited" and not wanted):
            survey.findings.append(
                found(
                    "gpu.mode.prohibited" if mode == "prohibited" else "gpu.mode.compute",
                    subject=gpu.label,
                    message=f"compute mode is {mode}" + (f", expected {wanted}" if wanted else ""),
                    measured=mode,
                    threshold=threshold if wanted else None,
                )
            )
    return survey.conclude()


@check(
    "gpu_modes.left_over",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.process", "gpu.memory.left"},
    expects={"gpu.count", "gpu.idle", "gpu.idle_memory_mib_max"},
    stage=Stage.WARN,
    vendors={"nvidia"},
)
def left_over(facts: Facts, host: Host, expected: Expected) -> Answer:
    """No process and no memory of one was left on the GPUs, where nothing should run (``gpu.idle``)."""
    if reason := no_gpus(facts, expected):
        return reason
    answering(facts)
    if not expected["gpu.idle"].value:
        return NotApplicable("nothing says that the GPUs should be idle now")
    survey = Survey(facts, expected)
    for gpu, pids in survey.read("processes"):
        for pid in pids:
            name = _name(host, pid)
            survey.findings.append(
                found(
                    "gpu.process", subject=gpu.label, message=f"pid {pid} ({name}) uses it", measured=str(pid)
                )
            )
    survey.limit(
        "memory_used_mib", "gpu.memory.left", "gpu.idle_memory_mib_max", "{value} MiB of memory in use"
    )
    return survey.conclude()


def _name(host: Host, pid: int) -> str:
    try:
        return host.read(f"/proc/{pid}/comm").strip() or "?"
    except ProbeUnavailable:
        return "gone, or of another container"
