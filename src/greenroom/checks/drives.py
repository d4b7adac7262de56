"""NVMe drives: there, live, of their size, and what they say of themselves (kernel ABI sysfs-nvme)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import WITH_LOAD, Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.optional import read_number, read_text, run_if_installed
from greenroom.model.results import Finding, Json
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

if TYPE_CHECKING:
    from greenroom.parsers.smart_state import Smart

ROOT = "/sys/class/nvme"
SECTOR_BYTES = 512
SENSORS = ("hwmon*", "device/hwmon/hwmon*")
TOOL_TIMEOUT_S = 5.0
STATES = {"dead": "nvme.dead", "deleting": "nvme.dead", "resetting": "nvme.reset", "connecting": "nvme.reset"}


@check(
    "nvme.drives",
    cost_s=0.02,
    detects={
        "nvme.missing",
        "nvme.dead",
        "nvme.reset",
        "nvme.too_small",
        "nvme.critical_warning.temperature",
    },
    expects={"nvme.count", "nvme.size_gb_min"},
)
def drives(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """As many NVMe drives are live as were built in, each of its size and under its own temperature limit.

    Drives behind a network (NVMe over Fabrics) are not counted.
    """
    wanted = expected.number("nvme.count")
    names = _local_drives(host)
    if not names and not wanted:
        return NotApplicable("no NVMe drive is here, and none is expected")
    looked: Json = {}
    findings: list[Finding] = []
    for name in names:
        looked[name] = {
            "state": read_text(host, f"{ROOT}/{name}/state") or "not shown",
            "size_gb": _size_gb(host, name),
        }
        findings += _judge(host, name, looked[name], expected)
    live = sum(1 for row in looked.values() if row["state"] in ("live", "not shown"))
    if wanted is not None and live < wanted:
        findings.append(
            found(
                "nvme.missing",
                subject="nvme",
                message=f"{live} drives are live, {wanted:g} are expected",
                measured=str(live),
                threshold=expected["nvme.count"],
            )
        )
    return Looked(looked={"drives": len(names), **looked}, findings=tuple(findings))


def _judge(host: Host, name: str, row: Json, expected: Expected) -> list[Finding]:
    state, size_gb = row["state"], row["size_gb"]
    findings = []
    if code := STATES.get(state):
        findings.append(found(code, subject=name, message=f"the drive is {state}", measured=state))
    least_gb = expected.number("nvme.size_gb_min")
    if least_gb is not None and not code and size_gb < least_gb:
        findings.append(
            found(
                "nvme.too_small",
                subject=name,
                message=f"{size_gb:g} GB, expected {least_gb:g}",
                measured=f"{size_gb:g} GB",
                threshold=expected["nvme.size_gb_min"],
            )
        )
    # Where the sensor stands has changed with Linux 5.9.
    for path in (path for place in SENSORS for path in host.glob(f"{ROOT}/{name}/{place}/temp1_input")):
        # Thousandths of a degree; temp1_max is the drive's own warning limit (drivers/nvme/host/hwmon.c).
        now, limit = read_number(host, path), read_number(host, path.replace("_input", "_max"))
        row["temperature_c"] = None if now is None else now // 1000
        if now is not None and limit and now >= limit:
            findings.append(
                found(
                    "nvme.critical_warning.temperature",
                    subject=name,
                    message=f"{now // 1000} C, the drive's own limit is {limit // 1000} C",
                    measured=f"{now // 1000} C",
                )
            )
    return findings


@check(
    "nvme.smart",
    needs={"nvme or smartctl"},
    cost_s=0.5,
    detects={
        *(
            f"nvme.critical_warning.{bit}"
            for bit in ("spare", "temperature", "reliability", "read_only", "backup", "pmr_read_only")
        ),
        "nvme.spare",
        "nvme.worn",
        "nvme.media_errors",
        "smart.failed",
    },
    expects={"nvme.count"},
    stage=Stage.WARN,
    profiles=WITH_LOAD,
)
def smart(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """No NVMe drive warns of itself: spare blocks, wear, media errors, read-only. Reads only."""
    names = _local_drives(host)
    if not names:
        return NotApplicable("no NVMe drive is here")
    looked: Json = {}
    findings: list[Finding] = []
    silent = []
    for name in names:
        state = _ask(host, name)
        if state is None:
            if expected.number("nvme.count"):
                raise ProbeUnavailable("neither nvme nor smartctl is installed")
            return NotApplicable("neither nvme nor smartctl is installed")
        if not state.known:
            silent.append(name)
            continue
        looked[name] = {
            "used_percent": state.used_percent,
            "spare_percent": state.spare_percent,
            "media_errors": state.media_errors,
            "critical_warning": state.critical_warning,
        }
        findings += _flaws(name, state)
    if silent and not findings:
        raise ProbeUnavailable(f"no SMART readings of {', '.join(silent)}")
    return Looked(looked={"drives": len(looked), **looked}, findings=tuple(findings))


@check(
    "disk.smart",
    needs={"smartctl"},
    cost_s=0.5,
    detects={
        "smart.failed",
        *(f"smart.sectors.{kind}" for kind in ("reallocated", "pending", "uncorrectable")),
        "smart.sectors.reported_uncorrectable",
    },
    stage=Stage.WARN,
    profiles=WITH_LOAD,
)
def disks(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """No SATA or SAS drive says that it fails or has lost sectors. Reads only.

    Drives behind a RAID controller are not seen, and virtual ones that keep no readings are passed over.
    """
    names = sorted(path.split("/")[-1] for path in host.glob("/sys/block/sd*"))
    if not names:
        return NotApplicable("no SATA or SAS drive is here")
    from greenroom.parsers.smartctl import parse_smartctl  # noqa: PLC0415 - only where there is a drive

    looked: Json = {}
    findings: list[Finding] = []
    silent = []
    for name in names:
        ran = run_if_installed(host, ["smartctl", "-j", "-a", f"/dev/{name}"], timeout_s=TOOL_TIMEOUT_S)
        if ran is None:
            return NotApplicable("smartctl is not installed")
        state = parse_smartctl(ran.stdout)
        if state.known:
            looked[name] = {"passed": state.passed, **state.sectors}
            findings += _flaws(name, state)
        elif state.supported:
            silent.append(name)
    if silent and not findings:
        raise ProbeUnavailable(f"no SMART readings of {', '.join(silent)}")
    if not looked:
        return NotApplicable("no drive here keeps SMART readings")
    return Looked(looked={"drives": len(looked), **looked}, findings=tuple(findings))


def _flaws(name: str, state: Smart) -> list[Finding]:
    from greenroom.parsers.smart_state import find_flaws  # noqa: PLC0415 - only where there is a drive

    findings = []
    for code, reading in find_flaws(state):
        value = state.sectors.get(reading, getattr(state, reading, None))
        message = f"{reading} is below its threshold" if value is None else f"{reading} is {value}"
        evidence = (state.evidence.get(reading, ""),)
        findings.append(found(code, subject=name, message=message, measured=str(value), evidence=evidence))
    return findings


def _ask(host: Host, name: str) -> Smart | None:
    """The drive's readings by the first tool that has some; None: no tool is installed."""
    from greenroom.parsers import nvme_smart, smartctl  # noqa: PLC0415 - only where there is a drive

    answered = None
    for argv, parse in (
        (["nvme", "smart-log", "-o", "json", f"/dev/{name}"], nvme_smart.parse_smart_log),
        (["smartctl", "-j", "-a", f"/dev/{name}"], smartctl.parse_smartctl),
    ):
        ran = run_if_installed(host, argv, timeout_s=TOOL_TIMEOUT_S)
        if ran is not None:
            answered = parse(ran.stdout)
            if answered.known:
                break
    return answered


def _local_drives(host: Host) -> list[str]:
    """Controllers on this machine's own bus."""
    names = [path.split("/")[-1] for path in host.glob(f"{ROOT}/nvme*")]
    return [name for name in names if read_text(host, f"{ROOT}/{name}/transport") in ("pcie", "")]


def _size_gb(host: Host, name: str) -> float:
    """All namespaces of a controller together; under multipath their folders are called nvme0c0n1."""
    sectors = [read_number(host, path) or 0 for path in host.glob(f"{ROOT}/{name}/nvme*n*/size")]
    return round(sum(sectors) * SECTOR_BYTES / 1e9, 1)
