"""Heat, power and clocks of the GPUs."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, check, found
from greenroom.checks.gpus import Survey, no_gpus
from greenroom.model.words import Stage
from greenroom.probes.host import Host


@check(
    "gpu_heat.temperature",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.temperature.high"},
    expects={"gpu.count", "gpu.temperature_c_max", "gpu.memory_temperature_c_max", "gpu.margin_c_min"},
    stage=Stage.WARN,
    vendors={"amd", "nvidia"},
)
def temperature(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """GPUs and their memory are no hotter than allowed, and some way from being slowed down for it."""
    if reason := no_gpus(facts, expected):
        return reason
    survey = Survey(facts, expected)
    survey.limit("temperature_c", "gpu.temperature.high", "gpu.temperature_c_max", "{value} °C")
    survey.limit(
        "memory_temperature_c", "gpu.temperature.high", "gpu.memory_temperature_c_max", "memory at {value} °C"
    )
    least = expected.number("gpu.margin_c_min")
    degrees = {gpu.index: value for gpu, value in survey.read("temperature_c")}
    for gpu, slowdown in survey.read("temperature_slowdown_c"):
        margin = slowdown - degrees.get(gpu.index, 0)
        told = any(one.subject == gpu.label for one in survey.findings)
        if least is not None and margin < least and gpu.index in degrees and not told:
            survey.findings.append(
                found(
                    "gpu.temperature.high",
                    subject=gpu.label,
                    message=f"{degrees[gpu.index]} °C, slowed down from {slowdown} on",
                    measured=f"{margin} °C",
                    threshold=expected["gpu.margin_c_min"],
                )
            )
    return survey.conclude()


@check(
    "gpu_heat.limits",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.power.limited", "gpu.clock.limited"},
    expects={"gpu.count", "gpu.power_limit_w_min", "gpu.clock_mhz_min"},
    stage=Stage.WARN,
    vendors={"nvidia"},
)
def limits(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Nobody left a power limit below the default (or the site's) or a clock below the model's."""
    if reason := no_gpus(facts, expected):
        return reason
    survey = Survey(facts, expected)
    own = expected["gpu.power_limit_w_min"]
    defaults = {gpu.index: watts for gpu, watts in survey.read("power_default_w")}
    for gpu, watts in survey.read("power_limit_w"):
        wanted = float(own.value) if isinstance(own.value, (int, float)) else defaults.get(gpu.index, 0.0)
        if watts < wanted:
            survey.findings.append(
                found(
                    "gpu.power.limited",
                    subject=gpu.label,
                    message=f"power limit {watts:g} W, expected {wanted:g}",
                    measured=f"{watts:g} W",
                    threshold=own if own.value is not None else None,
                )
            )
    survey.limit(
        "clock_max_mhz", "gpu.clock.limited", "gpu.clock_mhz_min", "highest clock {value} MHz", low=True
    )
    return survey.conclude()
