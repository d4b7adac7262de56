"""Do the GPUs compute right, and as fast as they should?"""

from __future__ import annotations

from collections import Counter

from greenroom.checks.bands import grade, twice
from greenroom.checks.expectations import Expected
from greenroom.checks.frame import WITH_LOAD, Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.gpu_load import EXPECTS, Load, broken, figures
from greenroom.model.figures import median
from greenroom.model.results import Finding, Json
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

PRECISIONS = ("fp32", "tf32", "bf16", "fp16", "fp8")
LONG = ("full", "burn-in")
WRONG = {"gpu.compute.wrong", "gpu.memory.wrong", "gpu.compute.broke"}
LEAST_ALIKE = 3
"""Of two digests that differ, neither is the odd one."""


@check(
    "gpu_stress.compute",
    needs={"torch"},
    cost_s=10.0,
    load_share=0.06,
    detects={"gpu.compute.wrong", "gpu.compute.broke", "gpu.compute.slow", "gpu.compute.uneven"},
    expects={
        *EXPECTS,
        "stress.spread_percent_max",
        *(f"gpu.gemm_{precision}_tflops_min" for precision in PRECISIONS),
    },
    stage=Stage.WARN,
    vendors={"nvidia", "amd"},
    profiles=WITH_LOAD,
)
def compute(facts: Facts, host: Host, expected: Expected) -> Answer:
    """All GPUs at once multiply matrices in every precision, each bit of each result is compared.

    Judged by the slowest GPU and by how far it is behind its neighbours. Digests tell GPUs apart that are
    wrong in the same way every time.
    """
    load = Load.take(facts, host, expected)
    if isinstance(load, NotApplicable):
        return load
    return twice(lambda load_s: _compute(load, load_s), load_s=facts.load_s, host=host, sure=WRONG)


def _compute(load: Load, load_s: float) -> Looked:
    result = load.run("gemm", load_s, precisions=list(PRECISIONS), seconds=round(load_s / len(PRECISIONS), 2))
    rows = [
        (result["names"][row["device"]], precision, one)
        for row in result["devices"]
        for precision, one in row["precisions"].items()
    ]
    findings = broken(
        (label, f"{precision}: {one['broke']}") for label, precision, one in rows if "broke" in one
    )
    ran = [(label, precision, one) for label, precision, one in rows if "tflops" in one]
    if not ran and not findings:
        raise ProbeUnavailable("gemm: no precision ran on any GPU")
    findings += wrong_results(ran)
    most = None if load.rehearsal else load.expected.number("stress.spread_percent_max")
    speeds = figures((f"{precision}_tflops", label, one["tflops"]) for label, precision, one in ran)
    for precision in PRECISIONS:
        findings += _judge(load.expected, precision, speeds.get(f"{precision}_tflops", {}), most)
    digests: dict[str, Json] = {}
    for label, precision, one in ran:
        digests.setdefault(precision, {})[label] = one["digest"]
    looked = {
        "comparable": load.comparable(result, f"size {result['size']}"),
        "load_s": round(load_s, 1),
        "figures": speeds,
        "digests": digests,
        "compared": sum(one["compared"] for *_, one in ran),
        "not_supported": sorted({precision for _, precision, one in rows if "not_supported" in one}),
        "samples": result.get("samples", {}),
    }
    return Looked(looked=looked, findings=tuple(findings))


def wrong_results(ran: list[tuple[str, str, Json]]) -> list[Finding]:
    """(GPU, precision, figures) -> a finding for each GPU that is wrong, by itself or beside others."""
    findings = []
    for label, precision, one in ran:
        if one["wrong"] or one["wrong_results"]:
            said = f"{one['wrong_results']} of {one['compared']} results of {precision} differ from the first"
            if one["wrong"]:
                said = f"{one['wrong']} wrong numbers of {precision}; {one['first_wrong']}"
            findings.append(
                found(
                    "gpu.compute.wrong",
                    subject=label,
                    message=said,
                    measured=f"{one['wrong'] + one['wrong_results']} wrong",
                    evidence=(one["first_wrong"],) if one["first_wrong"] else (),
                )
            )
    named = {one.subject for one in findings}
    return findings + [one for one in _minority(ran) if one.subject not in named]


def _minority(ran: list[tuple[str, str, Json]]) -> list[Finding]:
    """GPUs whose results are stable and not those of the others."""
    findings = {}
    for precision in PRECISIONS:
        digests = {label: one["digest"] for label, kind, one in ran if kind == precision}
        (usual, count), *_ = [*Counter(digests.values()).most_common(1), ("", 0)]
        if len(digests) < LEAST_ALIKE or 2 * count <= len(digests):
            continue
        for label, digest in digests.items():
            if digest != usual and label not in findings:
                findings[label] = found(
                    "gpu.compute.wrong",
                    subject=label,
                    message=f"its results of {precision} are not those of {count} of {len(digests)} GPUs",
                    measured=digest,
                    evidence=(f"{label} {digest}", f"most {usual}"),
                )
    return list(findings.values())


def _judge(expected: Expected, precision: str, speeds: dict[str, float], most: float | None) -> list[Finding]:
    """Each against the limit, then against its neighbours: ``most`` percent behind them; None: not asked."""
    findings = []
    for label, value in speeds.items():
        limit = f"gpu.gemm_{precision}_tflops_min"
        one = grade(
            expected[limit],
            value,
            code="gpu.compute.slow",
            subject=label,
            what=precision,
        )
        others = [speed for other, speed in speeds.items() if other != label]
        usual = median(others) if others else 0.0
        behind = 100 * (usual - value) / usual if usual else 0.0
        if one:
            findings.append(one)
        elif most is not None and behind > most:
            findings.append(
                found(
                    "gpu.compute.uneven",
                    subject=label,
                    message=f"{precision}: {value:.4g} TFLOP/s, {behind:.0f} % behind its neighbours",
                    measured=f"{behind:.0f} %",
                    threshold=expected["stress.spread_percent_max"],
                )
            )
    return findings


@check(
    "gpu_stress.memory",
    needs={"torch"},
    cost_s=10.0,
    load_share=0.08,
    detects={"gpu.memory.wrong", "gpu.compute.broke"},
    expects=EXPECTS,
    stage=Stage.WARN,
    vendors={"nvidia", "amd"},
    profiles=LONG,
)
def memory(facts: Facts, host: Host, expected: Expected) -> Answer:
    """Patterns through 95 % of the free memory of all GPUs at once: written everywhere, then read back."""
    load = Load.take(facts, host, expected)
    if isinstance(load, NotApplicable):
        return load
    result = load.run("memory", 2 * facts.load_s, seconds=round(facts.load_s, 1))
    rows = [(result["names"][row["device"]], row) for row in result["devices"]]
    findings = broken((label, row["broke"]) for label, row in rows if "broke" in row)
    for label, row in rows:
        if row.get("wrong"):
            findings.append(
                found(
                    "gpu.memory.wrong",
                    subject=label,
                    message=f"{row['wrong']} wrong words of memory; {row['first_wrong']}",
                    measured=f"{row['wrong']} words",
                    evidence=(row["first_wrong"],),
                )
            )
    looked = {
        "tested_bytes": {label: row["tested_bytes"] for label, row in rows if "tested_bytes" in row},
        "free_bytes": {label: row["free_bytes"] for label, row in rows if "free_bytes" in row},
        "patterns": sorted({name for _, row in rows for name in row.get("patterns", ())}),
        "left_out": sorted({name for _, row in rows for name in row.get("left_out", ())}),
        "gb_per_s": {label: row["gb_per_s"] for label, row in rows if "gb_per_s" in row},
    }
    return Looked(looked=looked, findings=tuple(findings))
