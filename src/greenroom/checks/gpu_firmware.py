"""Firmware of the GPUs: the same on all, and as expected."""

from __future__ import annotations

from collections import Counter, defaultdict

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, check, found
from greenroom.checks.gpus import Survey, no_gpus
from greenroom.model.words import Stage
from greenroom.probes.host import Host

KINDS = {"vbios": "VBIOS", "inforom": "InfoROM", "gsp": "GSP firmware"}


@check(
    "gpu_firmware.versions",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.firmware.mismatch", "gpu.firmware.version", "gpu.inforom.corrupt"},
    expects={"gpu.count", "gpu.vbios", "gpu.inforom", "gpu.gsp"},
    stage=Stage.WARN,
    vendors={"nvidia"},
)
def versions(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """VBIOS, InfoROM and GSP firmware are alike on GPUs of one model, and as expected.

    The InfoROM, where a GPU keeps its counters and settings, is whole.
    """
    if reason := no_gpus(facts, expected):
        return reason
    survey = Survey(facts, expected)
    for reading, word in KINDS.items():
        _compare(survey, reading, word)
    for gpu, valid in survey.read("inforom_valid"):
        if not valid:
            survey.findings.append(
                found("gpu.inforom.corrupt", subject=gpu.label, message="the driver says: corrupt InfoROM")
            )
    return survey.conclude()


def _compare(survey: Survey, reading: str, word: str) -> None:
    """Each with what is expected; where nothing is, with what most GPUs of its model have."""
    threshold = survey.expected[f"gpu.{reading}"]
    wanted = threshold.value if isinstance(threshold.value, str) else ""
    pairs = survey.read(reading)
    by_model: dict[str, Counter[str]] = defaultdict(Counter)
    for gpu, version in pairs:
        by_model[gpu.name or ""][version] += 1
    for gpu, version in pairs:
        usual = by_model[gpu.name or ""].most_common(1)[0][0]
        if wanted and not f"{version}.".startswith(f"{wanted}."):
            code, message = "gpu.firmware.version", f"{word} {version}, expected {wanted}"
        elif not wanted and version != usual:
            code, message = "gpu.firmware.mismatch", f"{word} {version}, the others of its model have {usual}"
        else:
            continue
        survey.findings.append(
            found(
                code,
                subject=gpu.label,
                message=message,
                measured=version,
                threshold=threshold if wanted else None,
            )
        )
