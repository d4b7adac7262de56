"""What slows the GPUs down."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, check, found
from greenroom.checks.gpus import Survey, no_gpus
from greenroom.model.words import Stage
from greenroom.probes.host import Host

# Bits of nvmlClocksEventReasons (nvml.h). Idle, application clocks and the power cap are everyday.
HARDWARE = {0x08: "hardware slowdown", 0x40: "hardware thermal slowdown", 0x80: "power brake"}
SOFTWARE_THERMAL = 0x20


@check(
    "gpu_clocks.throttle",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.throttle.hw", "gpu.throttle.thermal"},
    expects={"gpu.count"},
    vendors={"amd", "nvidia"},
)
def throttle(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Neither heat, nor the power brake, nor missing power slows a GPU down now."""
    if reason := no_gpus(facts, expected):
        return reason
    survey = Survey(facts, expected)
    temperatures = {gpu.label: degrees for gpu, degrees in survey.read("temperature_c")}
    for gpu, reasons in survey.read("clock_reasons"):
        hot = f"at {temperatures[gpu.label]} °C" if gpu.label in temperatures else "temperature unknown"
        words = [word for bit, word in HARDWARE.items() if reasons & bit]
        if words:
            survey.findings.append(
                found(
                    "gpu.throttle.hw",
                    subject=gpu.label,
                    message=f"slowed down: {', '.join(words)} ({hot})",
                    measured=f"{reasons:#x}",
                )
            )
        elif reasons & SOFTWARE_THERMAL:
            survey.findings.append(
                found(
                    "gpu.throttle.thermal",
                    subject=gpu.label,
                    message=f"slowed down by the driver because of heat ({hot})",
                    measured=f"{reasons:#x}",
                )
            )
    return survey.conclude()


@check(
    "gpu_clocks.violations",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.throttle.long"},
    expects={"gpu.count", "gpu.slowed_by_heat_s_max", "gpu.slowed_by_brake_s_max"},
    stage=Stage.WARN,
    vendors={"nvidia"},
)
def violations(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """No GPU was slowed down for long by heat or by the power brake since the driver was loaded.

    An idle GPU is never slowed down: what it was under load, only these counters tell afterwards.
    """
    if reason := no_gpus(facts, expected):
        return reason
    survey = Survey(facts, expected)
    for by in ("heat", "brake"):
        name = f"slowed_by_{by}_s"
        survey.limit(name, "gpu.throttle.long", f"gpu.{name}_max", f"slowed down by {by} for {{value:.0f}} s")
    return survey.conclude()
