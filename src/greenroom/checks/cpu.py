"""Do the processor cores compute right?"""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import WITH_LOAD, Answer, Facts, check
from greenroom.checks.stress import run_stress
from greenroom.probes.host import Host


@check(
    "cpu.stress",
    needs={"stress-ng"},
    cost_s=1.0,
    load_share=0.05,
    detects={"host.cpu.miscompute"},
    profiles=WITH_LOAD,
)
def stress(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Every core computes known results over and over, with all methods of stress-ng; each is compared."""
    # 0 = one worker for each online core
    workload = ["--cpu", "0", "--cpu-method", "all"]
    return run_stress(host, workload, load_s=facts.load_s, code="host.cpu.miscompute", subject="cpu")
