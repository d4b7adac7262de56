"""Is it known what a healthy GPU of this model looks like?"""

from __future__ import annotations

import json

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, check, found
from greenroom.checks.gpus import answering, no_gpus
from greenroom.probes.host import Host, ProbeUnavailable
from greenroom.probes.nvml import Gpu

# Threshold of a model's file -> reading that a healthy machine shows it by.
SHOWN = {"pcie_gen_min": "pcie_gen_max", "pcie_width_min": "pcie_width_max", "nvlinks_min": "nvlinks_up"}


@check(
    "gpu_model.known",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.model.unexpected"},
    expects={"gpu.count", "gpu.model"},
    vendors={"amd", "nvidia"},
)
def known(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """All GPUs are of one model, and expectations for that model are there.

    A model nobody has described is neither fit nor unfit: the answer then has the lines to add. Check the
    numbers in them against the maker's datasheet: this machine may be the broken one.
    """
    if reason := no_gpus(facts, expected):
        return reason
    gpus = answering(facts)
    names = sorted({gpu.name or "" for gpu in gpus})
    threshold = expected["gpu.model"]
    if not isinstance(threshold.value, str):
        raise ProbeUnavailable(_text_to_add(gpus, names))
    findings = tuple(
        found(
            "gpu.model.unexpected",
            subject=gpu.label,
            message=f"{gpu.name or 'a GPU without a name'} where {threshold.value} is expected",
            measured=gpu.name or "",
            threshold=threshold,
        )
        for gpu in gpus
        if threshold.value.lower() not in (gpu.name or "").lower()
    )
    return Looked(looked={"gpus": len(gpus), "models": names}, findings=findings)


def _text_to_add(gpus: tuple[Gpu, ...], names: list[str]) -> str:
    if len(names) > 1:
        return (
            f"GPUs of several models ({', '.join(names)}): say in an expectations file which belongs here, "
            '[gpu] model = "…"'
        )
    shown = {field: getattr(gpus[0], reading) for field, reading in SHOWN.items()}
    rows = [f"{field} = {value}" for field, value in shown.items() if value is not None]
    head = (
        f"nothing says what a healthy {names[0] or 'GPU'} looks like. Learn it from healthy nodes "
        "(greenroom expect learn), or add to an expectations file (--expected), numbers checked:"
    )
    match = f"match = [{json.dumps(names[0], ensure_ascii=False)}]"
    return "\n".join([head, "[machine]", match, "[gpu]", *rows])
