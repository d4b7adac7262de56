"""Do the GPUs stay right and fast when they are hot?"""

from __future__ import annotations

from greenroom.checks.bands import grade
from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.gpu_load import EXPECTS, TOOL_START_S, Load, broken
from greenroom.checks.gpu_stress import LONG, wrong_results
from greenroom.checks.optional import run_if_installed
from greenroom.model.results import Finding, Json
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

PRECISION = "bf16"
"""Own choice: what training runs in; tensor cores draw the most power."""
HEAT = {"heat": "gpu.throttle.thermal", "heat (hardware)": "gpu.throttle.hw"}
BRAKE = {"hardware": "gpu.throttle.hw", "power brake": "gpu.throttle.hw"}
ECC_DOUBTED = "gpu.ecc.uncorrectable"


@check(
    "gpu_stress.soak",
    needs={"torch"},
    cost_s=10.0,
    load_share=0.09,
    detects={
        *HEAT.values(),
        *BRAKE.values(),
        "gpu.compute.wrong",
        "gpu.compute.broke",
        "gpu.memory.miscompute",
        "gpu.temperature.high",
        ECC_DOUBTED,
    },
    expects={*EXPECTS, "stress.slowed_percent_max", "stress.temperature_c_max"},
    stage=Stage.WARN,
    vendors={"nvidia", "amd"},
    profiles=LONG,
)
def soak(facts: Facts, host: Host, expected: Expected) -> Answer:
    """All GPUs under full load for long: right results, no slowing by heat or power brake, no ECC errors.

    Clocks, power, temperature, what slows a GPU and its ECC counters are read every second meanwhile.
    Where gpu-burn is installed it makes the load.
    """
    load = Load.take(facts, host, expected)
    if isinstance(load, NotApplicable):
        return load
    if not load.rehearsal and (burnt := _burn(load, facts.load_s)):
        return burnt
    result = load.run("gemm", facts.load_s, precisions=[PRECISION], seconds=round(facts.load_s, 1))
    rows = [
        (result["names"][row["device"]], PRECISION, row["precisions"][PRECISION]) for row in result["devices"]
    ]
    findings = broken((label, one["broke"]) for label, _, one in rows if "broke" in one)
    ran = [(label, precision, one) for label, precision, one in rows if "tflops" in one]
    if not ran and not findings:
        raise ProbeUnavailable(f"gemm: {PRECISION} ran on no GPU")
    samples = result.get("samples") or {}
    findings += wrong_results(ran) + _judge_samples(samples, expected)
    looked = {
        "tool": "greenroom",
        "load_s": round(facts.load_s, 1),
        "compared": sum(one["compared"] for *_, one in ran),
        "tflops": {label: one["tflops"] for label, _, one in ran},
        "samples": samples,
    }
    return Looked(looked=looked, findings=tuple(findings))


def _judge_samples(samples: Json, expected: Expected) -> list[Finding]:
    findings: list[Finding] = []
    most = expected.number("stress.slowed_percent_max")
    for label, told in samples.items():
        if not isinstance(told, dict):
            continue
        for by, share in told.get("slowed", {}).items():
            code = {**HEAT, **BRAKE}.get(by)
            if code and most is not None and 100 * share > most:
                findings.append(
                    found(
                        code,
                        subject=label,
                        message=f"slowed down by {by} for {100 * share:.0f} % of the time under load",
                        measured=f"{100 * share:.0f} %",
                        threshold=expected["stress.slowed_percent_max"],
                    )
                )
        if hottest := (told.get("temperature_c") or [None])[-1]:
            one = grade(
                expected["stress.temperature_c_max"],
                float(hottest),
                code="gpu.temperature.high",
                subject=label,
                what="under load",
            )
            findings += [one] if one else []
        if told.get("ecc_uncorrected", 0) > 0:
            findings.append(
                found(
                    ECC_DOUBTED,
                    subject=label,
                    message=f"{told['ecc_uncorrected']} uncorrectable memory errors under load",
                    measured=str(told["ecc_uncorrected"]),
                )
            )
    return findings


def _burn(load: Load, load_s: float) -> Looked | None:
    """With gpu-burn; None: it is not installed.

    Raises:
        ProbeUnavailable: it has no result, or did nothing on a GPU.
    """
    tool = load.tool("gpu_burn")
    # It looks for its kernel in the working directory unless it is told where.
    kernel = f"{tool.rpartition('/')[0]}/compare.ptx" if "/" in tool else ""
    where = ["-c", kernel] if kernel and load.host.exists(kernel) else []
    argv = [tool, *where, "-tc", str(max(10, round(load_s)))]
    ran = run_if_installed(load.host, argv, timeout_s=load_s + TOOL_START_S)
    if ran is None:
        return None
    from greenroom.parsers import gpu_burn  # noqa: PLC0415 - only where the tool is

    outcome = gpu_burn.parse(f"{ran.stdout}\n{ran.stderr}")
    if not outcome.gpus:
        raise ProbeUnavailable(
            f"gpu_burn: exit {ran.rc}, no result: {outcome.said or ran.stderr.strip():.200}"
        )
    names = {gpu.index: gpu.label for gpu in load.gpus}
    findings = [
        found(
            "gpu.memory.miscompute",
            subject=names.get(one.index, f"gpu{one.index}"),
            message="gpu-burn found wrong results",
            measured="FAULTY",
        )
        for one in outcome.gpus
        if one.faulty and not one.died
    ]
    findings += broken(
        (names.get(one.index, f"gpu{one.index}"), f"gpu-burn's process on it died: {outcome.said}")
        for one in outcome.gpus
        if one.died
    )
    idle = [one.index for one in outcome.gpus if not one.gflops and not one.died]
    if idle and not findings:
        raise ProbeUnavailable(f"gpu_burn did nothing on GPU {idle[0]}: {outcome.said}")
    speeds = {names.get(one.index, f"gpu{one.index}"): one.gflops / 1000 for one in outcome.gpus}
    return Looked(
        looked={"tool": "gpu-burn", "load_s": round(load_s, 1), "tflops": speeds}, findings=tuple(findings)
    )
