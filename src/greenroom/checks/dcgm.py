"""NVIDIA's own diagnostic (``dcgmi diag``), where it is installed."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check
from greenroom.checks.gpus import answering, no_gpus
from greenroom.checks.incidents import findings_of
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

# Family "dcgm" of the catalogue, spelled out: reading its file costs every run, and most find nothing.
LAST_ERROR = 132
CODES = {f"dcgm.{number}" for number in range(1, LAST_ERROR + 1)} | {"dcgm.test"}
# Load time in s -> run level. NVIDIA's guide: level 1 takes seconds, 2 about two minutes, 3 half an hour,
# 4 one to two hours on an eight-GPU machine.
LEVELS = ((7200.0, 4), (1800.0, 3), (120.0, 2), (0.0, 1))
SPARE_S = 60.0


@check(
    "dcgm.diag",
    needs={"dcgmi"},
    cost_s=5.0,
    load_share=0.2,
    detects=CODES,
    expects={"gpu.count"},
    stage=Stage.WARN,
    vendors={"nvidia"},
    profiles=("full", "burn-in"),
)
def diag(facts: Facts, host: Host, expected: Expected) -> Answer:
    """DCGM's diagnostic passes at the highest run level that the time allows (1 to 4).

    A test that was skipped was not passed; a diagnostic that could not run says nothing of the GPUs.
    """
    # The reader of DCGM's output is large, and most runs have no time for a diagnostic.
    from greenroom.parsers.dcgm_diag_json import parse_diag, read  # noqa: PLC0415

    if reason := no_gpus(facts, expected):
        return reason
    names = {f"gpu:{gpu.index}": gpu.label for gpu in answering(facts)}
    level = next(level for least_s, level in LEVELS if facts.load_s >= least_s)
    argv = ["dcgmi", "diag", "-r", str(level), "-j"]
    try:
        ran = host.run(argv, timeout_s=max(facts.load_s, SPARE_S) + SPARE_S)
    except ProbeUnavailable as error:
        if "not installed" in str(error):
            return NotApplicable("dcgmi is not installed")
        raise
    results, troubles = parse_diag(ran.stdout)
    tested = [one for one in results if one.errors or one.status in ("pass", "passed", "fail", "failed")]
    if not tested:
        said = troubles or (ran.stderr + ran.stdout).strip().splitlines() or ["no answer"]
        raise ProbeUnavailable(f"dcgmi diag -r {level}: exit {ran.rc}: {said[0]:.200}")
    reading = read(ran.stdout)
    findings = findings_of(reading.sightings, source=f"dcgmi diag -r {level}", names=names)
    if not findings and troubles:
        raise ProbeUnavailable(f"dcgmi diag -r {level}: {troubles[0]:.200}")
    looked = {
        "level": level,
        "passed": sum(one.passed for one in results),
        "not_run": sorted({one.test for one in results if one not in tested}),
    }
    return Looked(looked=looked, findings=findings)
