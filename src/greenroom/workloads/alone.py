"""Two ranks on one node: what can be told of a node without a partner, in one process tree."""

from __future__ import annotations

from typing import Any

from greenroom.probes.host import LocalHost, ProbeUnavailable
from greenroom.workloads.collective import DEFAULTS as DEFAULTS  # noqa: PLC0414 - the same spec
from greenroom.workloads.process import Unable, say
from greenroom.workloads.start import run_ranks

RANKS = 2


def run(spec: dict[str, Any]) -> dict[str, Any]:
    """The result of the collective, rows of both ranks."""
    ranks = [{**spec, "rank": rank, "world": RANKS} for rank in range(RANKS)]
    say("hello", ranks=RANKS)
    try:
        results = run_ranks(LocalHost(), "collective", ranks, deadline_s=float(spec["deadline_s"]))
    except ProbeUnavailable as error:
        raise Unable(str(error)) from error
    lost = next((one for one in results if not one.get("reached") or one.get("broke")), None)
    return lost or {**results[0], "rows": [row for one in results for row in one["rows"]]}
