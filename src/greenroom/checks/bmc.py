"""The management controller (BMC) over IPMI: its event log and its sensors. Nothing is ever cleared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.optional import run_if_installed
from greenroom.model.results import Finding
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

if TYPE_CHECKING:
    from greenroom.parsers.ipmi_sel import Event

DEVICES = ("/dev/ipmi0", "/dev/ipmi/0", "/dev/ipmidev/0")
TOOL = ("env", "TZ=UTC", "ipmitool")
"""From 1.8.19 on it prints local time: the controller's own is asked for."""
COMMAND_NOT_FOUND = 127
"""Exit code of env(1)."""
TOOL_TIMEOUT_S = 20.0
"""A slow controller takes seconds for a hundred events."""
LONG = ("full", "burn-in")
"""A controller that takes its time must not crowd the other checks out of a minute."""
LAST = "100"
"""Events that are read, the newest."""
CLOCK_S = 300.0
"""As far the controller's clock may be behind: an event that seems so much older still counts."""
BOTH = {"host.fan", "host.temperature", "host.power.redundancy", "host.power.supply", "disk.fault"}
EVENTS = BOTH | {
    "host.edac.ue",
    "host.edac.ce",
    "host.memory.module",
    "host.mce.uncorrected",
    "pcie.aer.fatal",
    "pcie.aer.uncorrectable",
    "host.watchdog",
    "host.bmc.full",
}
SENSORS = BOTH | {"host.power", "host.bmc", "host.mce.uncorrected"}
_USED = re.compile(r"^Percent Used +: (\d+)%", re.MULTILINE)


@check(
    "bmc.events",
    needs={"ipmitool"},
    cost_s=2.0,
    detects=EVENTS,
    expects={"bmc.expected", "bmc.log_percent_max"},
    stage=Stage.OBSERVE,
    profiles=LONG,
)
def events(facts: Facts, host: Host, expected: Expected) -> Answer:
    """The controller's event log tells of no fault since the last admission, and has room for more.

    Without an admission all since the boot counts. Events that the controller took back do not count, nor
    those from before its clock was set: they are told by their number. Its clock is taken as UTC.
    """
    if reason := _no_controller(host, expected):
        return reason
    listed = _ask(host, [*TOOL, "sel", "elist", "last", LAST], expected)
    if isinstance(listed, NotApplicable):
        return listed
    from greenroom.parsers import ipmi_sel  # noqa: PLC0415 - only where there is a controller

    told = list(ipmi_sel.parse_events(listed))
    since = (facts.since or boot_time(host)) - CLOCK_S
    undated = sum(1 for event in told if event.at is None)
    new = [event for event in ipmi_sel.standing(told) if event.at is not None and event.at >= since]
    findings = event_findings(new)
    info = host.run([*TOOL, "sel", "info"], timeout_s=TOOL_TIMEOUT_S)
    match = _USED.search(info.stdout)
    if not match:
        raise ProbeUnavailable(
            f"ipmitool sel info: {(info.stderr.strip() or 'says not how full the log is'):.150}"
        )
    used, limit = int(match[1]), expected.number("bmc.log_percent_max")
    if limit is not None and used > limit:
        findings.append(
            found(
                "host.bmc.full",
                subject="bmc",
                message=f"the event log is {used} % full",
                measured=f"{used} %",
                threshold=expected["bmc.log_percent_max"],
            )
        )
    looked = {"events": len(told), "new": len(new), "undated": undated, "log_used_percent": used}
    return Looked(looked=looked, findings=tuple(findings))


@check(
    "bmc.sensors",
    needs={"ipmitool"},
    cost_s=3.0,
    detects=SENSORS,
    expects={"bmc.expected"},
    stage=Stage.OBSERVE,
    profiles=LONG,
)
def sensors(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Fans turn, nothing is too hot, voltages are in their limits, power supplies work and are redundant.

    The limits are the controller's own. A sensor beyond the first, non-critical one is told, not judged.
    """
    if reason := _no_controller(host, expected):
        return reason
    text = _ask(host, [*TOOL, "sdr", "elist"], expected)
    if isinstance(text, NotApplicable):
        return text
    from greenroom.parsers import ipmi_sdr  # noqa: PLC0415 - only where there is a controller

    shown = [sensor for sensor in ipmi_sdr.parse_sensors(text) if sensor.state not in ("ns", "na", "us")]
    if not shown:
        raise ProbeUnavailable("ipmitool: shows no sensor")
    findings: tuple[Finding, ...] = tuple(
        found(
            sensor.code,
            subject=sensor.name,
            message=sensor.value or sensor.state,
            measured=sensor.value[:40] or sensor.state,
            evidence=(sensor.text,),
        )
        for sensor in shown
        if sensor.code
    )
    return Looked(
        looked={"sensors": len(shown), "near": [one.name for one in shown if one.near]}, findings=findings
    )


def event_findings(events: Iterable[Event], *, otherwise: str = "") -> list[Finding]:
    """One for each fault and sensor. ``otherwise``: the fault of an event that no rule knows."""
    by_kind: dict[tuple[str, str], list[Event]] = {}
    for event in events:
        if code := event.code or otherwise:
            by_kind.setdefault((code, event.sensor), []).append(event)
    return [
        found(
            code,
            subject=sensor,
            message=f"the controller's log, {len(seen)} times: {seen[-1].event}",
            measured=str(len(seen)),
            evidence=tuple(event.text for event in seen[-3:]),
        )
        for (code, sensor), seen in by_kind.items()
    ]


def _no_controller(host: Host, expected: Expected) -> NotApplicable | None:
    """Looked for before a tool is started that would wait for one."""
    if any(host.exists(path) for path in DEVICES):
        return None
    if expected["bmc.expected"].value is True:
        raise ProbeUnavailable(f"{DEVICES[0]}: no such device (the kernel module ipmi_devintf makes it)")
    return NotApplicable("no management controller is to be seen, and none is expected")


def _ask(host: Host, argv: list[str], expected: Expected) -> str | NotApplicable:
    ran = run_if_installed(host, argv, timeout_s=TOOL_TIMEOUT_S)
    if ran is None or ran.rc == COMMAND_NOT_FOUND:
        if expected["bmc.expected"].value is True:
            raise ProbeUnavailable("ipmitool: not installed")
        return NotApplicable("ipmitool is not installed")
    if ran.rc:
        raise ProbeUnavailable(f"{' '.join(argv[2:])}: {(ran.stderr.strip() or f'exit {ran.rc}'):.150}")
    return ran.stdout


def boot_time(host: Host) -> float:
    """Unix time of the boot, s (proc(5), uptime)."""
    return host.now() - float(host.read("/proc/uptime").split()[0])
