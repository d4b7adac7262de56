"""NVLinks that are up: how well, and does data get through? And the links to the processor (C2C)."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, NotApplicable, check, found
from greenroom.checks.gpus import Survey, answering, no_gpus
from greenroom.model.words import Stage
from greenroom.probes.host import Host


@check(
    "gpu_nvlink.quality",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.nvlink.errors", "gpu.nvlink.degraded"},
    expects={
        "gpu.count",
        "gpu.nvlink_crc_max",
        "gpu.nvlink_mbps_min",
        "gpu.nvlink_recoveries_max",
        "gpu.nvlink_replays_max",
    },
    stage=Stage.WARN,
    vendors={"nvidia"},
)
def quality(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """NVLinks run at full speed, without recoveries, and no GPU's are slower than its neighbours'."""
    if reason := no_gpus(facts, expected):
        return reason
    survey = Survey(facts, expected)
    code = "gpu.nvlink.errors"
    survey.limit("nvlink_recoveries", code, "gpu.nvlink_recoveries_max", "{value} recoveries of NVLinks")
    survey.limit("nvlink_replays", code, "gpu.nvlink_replays_max", "{value} packets sent again over NVLinks")
    survey.limit("nvlink_crc_errors", code, "gpu.nvlink_crc_max", "{value} checksum errors of NVLinks")
    threshold = expected["gpu.nvlink_mbps_min"]
    # 0: no link is up, which is for gpu_links.nvlink to judge
    speeds = [(gpu, mbps) for gpu, mbps in survey.read("nvlink_mbps") if mbps]
    fastest = max((mbps for _, mbps in speeds), default=0)
    wanted = threshold.value if isinstance(threshold.value, int) else fastest
    survey.findings += [
        found(
            "gpu.nvlink.degraded",
            subject=gpu.label,
            message=f"slowest NVLink at {mbps} MB/s, expected {wanted}",
            measured=f"{mbps} MB/s",
            threshold=threshold if threshold.value is not None else None,
        )
        for gpu, mbps in speeds
        if mbps < wanted
    ]
    return survey.conclude()


@check(
    "gpu_nvlink.peers",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.p2p.dead"},
    expects={"gpu.count"},
    vendors={"nvidia"},
)
def peers(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """GPUs with NVLinks reach each other over them: links that are up do not say that data gets through."""
    if reason := no_gpus(facts, expected):
        return reason
    survey = Survey(facts, expected)
    linked = [gpu for gpu in answering(facts) if gpu.nvlinks_up]
    if len(linked) < 2:
        return NotApplicable("fewer than two GPUs with NVLinks are here")
    for gpu, others in survey.read("unreachable"):
        # A bridge joins two boards and leaves the others apart: only one that reaches none is dead.
        if others and len(others) >= len(linked) - 1:
            names = ", ".join(f"gpu{other}" for other in others)
            survey.findings.append(
                found(
                    "gpu.p2p.dead",
                    subject=gpu.label,
                    message=f"{gpu.nvlinks_up} NVLinks are up and it reaches none of {names}",
                    measured=names,
                )
            )
    return survey.conclude()


@check(
    "gpu_nvlink.c2c",
    needs={"nvml"},
    cost_s=0.01,
    detects={"gpu.c2c.down"},
    expects={"gpu.count"},
    vendors={"nvidia"},
)
def c2c(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """All links between a GPU and its Grace processor (NVLink-C2C) are up."""
    if reason := no_gpus(facts, expected):
        return reason
    survey = Survey(facts, expected)
    links = {gpu.index: count for gpu, count in survey.read("c2c_links")}
    for gpu, up in survey.read("c2c_up"):
        if up < links.get(gpu.index, 0):
            survey.findings.append(
                found(
                    "gpu.c2c.down",
                    subject=gpu.label,
                    message=f"{up} of {links[gpu.index]} links to the processor are up",
                    measured=str(up),
                )
            )
    return survey.conclude()
