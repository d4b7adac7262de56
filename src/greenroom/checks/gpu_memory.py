"""GPU memory: error counters, replaced rows, retired pages."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, check, found
from greenroom.checks.gpus import Survey, no_gpus
from greenroom.probes.host import Host


@check(
    "gpu_memory.ecc",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.ecc.uncorrectable", "gpu.ecc.aggregate", "gpu.ecc.disabled"},
    expects={
        "gpu.count",
        "gpu.ecc_enabled",
        "gpu.ecc_volatile_uncorrected_max",
        "gpu.ecc_aggregate_uncorrected_max",
    },
    vendors={"amd", "nvidia"},
)
def ecc(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """No uncorrectable memory errors since the driver was loaded, few over the GPU's life, ECC on."""
    if reason := no_gpus(facts, expected):
        return reason
    survey = Survey(facts, expected)
    for name, code in (
        ("ecc_volatile_uncorrected", "gpu.ecc.uncorrectable"),
        ("ecc_aggregate_uncorrected", "gpu.ecc.aggregate"),
    ):
        limit = expected.number(f"gpu.{name}_max")
        for gpu, count in survey.read(name):
            if limit is not None and count > limit:
                survey.findings.append(
                    found(
                        code,
                        subject=gpu.label,
                        message=f"{count} uncorrectable memory errors",
                        measured=str(count),
                        threshold=expected[f"gpu.{name}_max"],
                    )
                )
    for gpu, enabled in survey.read("ecc_enabled"):
        if expected["gpu.ecc_enabled"].value and not enabled:
            survey.findings.append(
                found(
                    "gpu.ecc.disabled",
                    subject=gpu.label,
                    message="error correction is off",
                    measured="off",
                    threshold=expected["gpu.ecc_enabled"],
                )
            )
    return survey.conclude()


@check(
    "gpu_memory.row_remap",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.row_remap.pending", "gpu.row_remap.failure"},
    expects={"gpu.count", "gpu.remapped_uncorrected_max"},
    vendors={"amd", "nvidia"},
)
def row_remap(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """No memory row waits to be replaced by a spare one (needs a reset), and no replacement has failed.

    NVIDIA GPU memory error management: pending asks for a reset, a failure for another GPU.
    """
    if reason := no_gpus(facts, expected):
        return reason
    survey = Survey(facts, expected)
    limit = expected["gpu.remapped_uncorrected_max"]
    for gpu, failed in survey.read("remap_failed"):
        if failed:
            survey.findings.append(
                found("gpu.row_remap.failure", subject=gpu.label, message="replacing a memory row failed")
            )
    for gpu, pending in survey.read("remap_pending"):
        if pending:
            survey.findings.append(
                found("gpu.row_remap.pending", subject=gpu.label, message="a memory row waits for a reset")
            )
    for gpu, rows in survey.read("remapped_uncorrected"):
        if isinstance(limit.value, int) and rows > limit.value:
            survey.findings.append(
                found(
                    "gpu.row_remap.failure",
                    subject=gpu.label,
                    message=f"{rows} memory rows were replaced after uncorrectable errors",
                    measured=str(rows),
                    threshold=limit,
                )
            )
    return survey.conclude()


@check(
    "gpu_memory.reserves",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.row_remap.exhausted", "gpu.ecc.threshold"},
    expects={"gpu.count", "gpu.banks_without_spare_max"},
    vendors={"nvidia"},
)
def reserves(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Every memory bank has a spare row left; the caches (SRAM) have fewer errors than the driver allows."""
    if reason := no_gpus(facts, expected):
        return reason
    survey = Survey(facts, expected)
    survey.limit(
        "banks_without_spare",
        "gpu.row_remap.exhausted",
        "gpu.banks_without_spare_max",
        "{value} memory banks have no spare row left",
    )
    survey.read("banks_low")
    errors = {gpu.index: count for gpu, count in survey.read("sram_uncorrected")}
    for gpu, exceeded in survey.read("sram_exceeded"):
        if exceeded:
            survey.findings.append(
                found(
                    "gpu.ecc.threshold",
                    subject=gpu.label,
                    message=f"{errors.get(gpu.index, '?')} SRAM errors: above the driver's limit",
                    measured=str(errors.get(gpu.index, "")),
                )
            )
    return survey.conclude()


@check(
    "gpu_memory.retired_pages",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.retired_pages.pending", "gpu.retired_pages.many"},
    expects={"gpu.count", "gpu.retired_pages_max"},
    vendors={"amd", "nvidia"},
)
def retired_pages(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """No memory page waits to be retired, and not too many are (GPUs before Ampere)."""
    if reason := no_gpus(facts, expected):
        return reason
    survey = Survey(facts, expected)
    limit = expected["gpu.retired_pages_max"]
    for gpu, pending in survey.read("retired_pending"):
        if pending:
            survey.findings.append(
                found(
                    "gpu.retired_pages.pending", subject=gpu.label, message="memory pages wait to be retired"
                )
            )
    for gpu, pages in survey.read("retired_pages"):
        # AMD's own limit is the driver's: see the reading remap_failed.
        own = facts.gpus.vendor == "nvidia"
        if own and isinstance(limit.value, int) and pages > limit.value:
            survey.findings.append(
                found(
                    "gpu.retired_pages.many",
                    subject=gpu.label,
                    message=f"{pages} memory pages are retired",
                    measured=str(pages),
                    threshold=limit,
                )
            )
    return survey.conclude()
