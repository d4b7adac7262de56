"""A verified stress-ng run as a check's answer."""

from __future__ import annotations

from collections.abc import Sequence

from greenroom.checks.frame import Looked, found
from greenroom.parsers.stress_ng import VERIFY_FAILED, parse
from greenroom.probes.host import Host, ProbeUnavailable

SETTLE_S = 15.0
"""How long stress-ng may take to start and end its workers on top of the load."""


def run_stress(host: Host, workload: Sequence[str], *, load_s: float, code: str, subject: str) -> Looked:
    """Run the workload for ``load_s`` with verification; a wrong result is the finding ``code``.

    Raises:
        ProbeUnavailable: stress-ng is missing, did not end well, or did nothing.
    """
    seconds = max(1, round(load_s))
    argv = ["stress-ng", *workload, "--verify", "--metrics-brief", "--timeout", f"{seconds}s"]
    ran = host.run(argv, timeout_s=seconds + SETTLE_S)
    stressed = parse(f"{ran.stdout}\n{ran.stderr}")
    if ran.rc == VERIFY_FAILED and stressed.failures:
        return Looked(
            looked={"operations": stressed.operations, "load_s": seconds},
            findings=(
                found(
                    code,
                    subject=subject,
                    message=f"stress-ng found wrong results: {stressed.failures[0]}",
                    measured=f"{len(stressed.failures)} failures",
                    evidence=stressed.failures,
                ),
            ),
        )
    if ran.rc != 0:
        said = [*stressed.failures, *ran.stderr.strip().splitlines(), f"exit {ran.rc}"]
        raise ProbeUnavailable(f"stress-ng: {said[0]:.200} (exit {ran.rc})")
    if stressed.operations == 0:
        raise ProbeUnavailable("stress-ng did no operation")
    return Looked(looked={"operations": stressed.operations, "load_s": seconds})
