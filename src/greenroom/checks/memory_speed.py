"""Is the memory of the machine as fast as it should be?"""

from __future__ import annotations

import re

from greenroom.checks.bands import grade
from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, check
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

LEAST_S = 6
"""stress-ng 0.15 tells no rate of a shorter run."""
SETTLE_S = 15.0
MIB = 1 << 20
# stress-ng: info: [7] stream: memory rate: 10334.86 MB read/sec, 6889.91 MB write/sec, ... (its MB is 2^20)
_RATE = re.compile(r"stream: memory rate: ([\d.]{1,20}) MB read/sec, ([\d.]{1,20}) MB write/sec")
_OLD_RATE = re.compile(r"stream: memory rate: ([\d.]{1,20}) MB/sec")


@check(
    "memory.bandwidth",
    needs={"stress-ng"},
    cost_s=1.0,
    load_share=0.02,
    detects={"host.memory.slow"},
    expects={"memory.bandwidth_gb_per_s_min"},
    stage=Stage.WARN,
    profiles=("full", "burn-in"),
)
def bandwidth(facts: Facts, host: Host, expected: Expected) -> Answer:
    """All cores at once stream through memory far larger than their caches, after STREAM.

    A module that was lost, or channels that are filled unevenly, show here first.
    """
    seconds = max(LEAST_S, round(facts.load_s))
    argv = ["stress-ng", "--stream", "0", "--metrics-brief", "--timeout", f"{seconds}s"]
    ran = host.run(argv, timeout_s=seconds + SETTLE_S)
    said = f"{ran.stdout}\n{ran.stderr}"
    rates = [float(read) + float(write) for read, write in _RATE.findall(said)]
    rates = rates or [float(rate) for rate in _OLD_RATE.findall(said)]
    if not rates:
        last = said.strip().splitlines()[-1:] or ["no answer"]
        raise ProbeUnavailable(f"stress-ng: no memory rate (exit {ran.rc}): {last[0]:.200}")
    speed = sum(rates) * MIB / 1e9
    one = grade(
        expected["memory.bandwidth_gb_per_s_min"],
        speed,
        code="host.memory.slow",
        subject="memory",
        what=f"{len(rates)} workers",
    )
    looked = {
        "figures": {"stream_gb_per_s": {"all": round(speed, 2)}},
        "workers": len(rates),
        "load_s": seconds,
    }
    return Looked(looked=looked | {"comparable": f"{len(rates)} workers"}, findings=(one,) if one else ())
