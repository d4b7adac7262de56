"""Is the clock right?"""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, check, found
from greenroom.model.words import Stage
from greenroom.parsers.clock import ClockState, parse_chrony, parse_timedatectl
from greenroom.probes.host import Host, ProbeUnavailable

TOOL_TIMEOUT_S = 3.0


@check(
    "clock.synchronised",
    needs={"chronyc or timedatectl"},
    cost_s=0.1,
    detects={"host.clock.unsynced"},
    expects={"clock.offset_s_max"},
    stage=Stage.WARN,
)
def synchronised(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """A time service keeps the clock, and it is not far off."""
    tool, state = _ask(host)
    limit = expected.number("clock.offset_s_max")
    findings = []
    if not state.synchronised:
        findings.append(
            found("host.clock.unsynced", subject="clock", message=f"{tool} says: not synchronised")
        )
    elif state.offset_s is not None and limit is not None and abs(state.offset_s) > limit:
        findings.append(
            found(
                "host.clock.unsynced",
                subject="clock",
                message=f"{state.offset_s:+.3f} s off",
                measured=f"{state.offset_s:.6f} s",
                threshold=expected["clock.offset_s_max"],
            )
        )
    return Looked(looked={"tool": tool, "offset_s": state.offset_s}, findings=tuple(findings))


def _ask(host: Host) -> tuple[str, ClockState]:
    """The first tool that knows. chronyc first: it also says how far off."""
    reasons = []
    for argv, parse in (
        (["chronyc", "-c", "tracking"], parse_chrony),
        (["timedatectl", "show"], parse_timedatectl),
    ):
        try:
            ran = host.run(argv, timeout_s=TOOL_TIMEOUT_S)
        except ProbeUnavailable as error:
            reasons.append(str(error))
            continue
        state = parse(ran.stdout)
        if state:
            return argv[0], state
        reasons.append(f"{argv[0]}: {(ran.stderr.strip() or 'no readable answer').splitlines()[0]:.100}")
    raise ProbeUnavailable("; ".join(reasons))
