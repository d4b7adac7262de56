"""What the kernel wrote into its log: the GPU driver's reports, and faults of the rest of the machine."""

from __future__ import annotations

from collections.abc import Iterable

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, check
from greenroom.checks.gpus import no_gpus
from greenroom.checks.incidents import findings_of
from greenroom.faults import lookup
from greenroom.faults.fault import Clears
from greenroom.model.results import Finding, Json
from greenroom.model.sightings import Sighting
from greenroom.model.words import Stage
from greenroom.parsers import kernel_faults
from greenroom.parsers.kernel_log import Record, Xid, find_xids, parse_records, pci_address
from greenroom.probes.host import Host, ProbeUnavailable

KMSG = "/dev/kmsg"
OUTLAST_RESET = (Clears.BOOT, Clears.PERSON)
LAST_XID = 173
# Family "xid" of the catalogue, spelled out: reading its file takes 15 ms, and most runs find no Xid.
CODES = {f"gpu.xid.{number}" for number in range(1, LAST_XID + 1)} | {
    f"gpu.recovery.{what}" for what in ("reset", "reboot", "drain", "other")
}
# Family "sxid", spelled out likewise: the first and the last number of each run of numbers.
SXIDS = (
    (10001, 10005), (11001, 11001), (11004, 11004), (11009, 11009), (11012, 11013), (11018, 11023),
    (12001, 12002), (12020, 12028), (12030, 12032), (14017, 14017), (15001, 15001), (15006, 15006),
    (15008, 15013), (19047, 19049), (19054, 19071), (19084, 19084), (20001, 20001), (20009, 20009),
    (20012, 20012), (20034, 20034), (22003, 22003), (22011, 22013), (23001, 23017), (24001, 24007),
    (28002, 28002),
)  # fmt: skip
SWITCH_CODES = {f"nvswitch.sxid.{number}" for first, last in SXIDS for number in range(first, last + 1)}
HOST_CODES = {rule.code for rule in kernel_faults.RULES} - {"pcie.aer"} | {
    f"pcie.aer.{kind}" for kind in ("corrected", "nonfatal", "fatal")
}


@check(
    "kernel_log.xid",
    needs={KMSG},
    cost_s=0.05,
    detects=CODES,
    expects={"gpu.count"},
    vendors={"nvidia"},
)
def xid(facts: Facts, host: Host, expected: Expected) -> Answer:
    """No Xid (error report of the NVIDIA driver) that speaks of broken hardware since the last admission.

    What each Xid means and asks for is in the fault catalogue; those of user programs are notes. Lines
    that follow from one another are one finding, and the driver's own verdict (Xid 154) outranks our tables.
    """
    if reason := no_gpus(facts, expected):
        return reason
    records, booted_at = _read_log(facts, host)
    since_s = max(0.0, facts.since - booted_at)
    xids = [seen for seen in find_xids(records) if not _is_past(seen, facts, booted_at)]
    names = {pci_address(gpu.pci): gpu.label for gpu in facts.gpus.gpus if gpu.pci}
    return Looked(
        looked={"records": len(records), "xids": len(xids), "since_uptime_s": round(since_s, 1)},
        findings=_findings(xids, names, facts.gpus.version) if xids else (),
    )


def _is_past(seen: Xid, facts: Facts, booted_at: float) -> bool:
    """Whether it was handled: before the last admission, or before a reset that clears it."""
    if seen.uptime_s is None:  # a line without a time may be new: it counts
        return False
    at = booted_at + seen.uptime_s
    if at >= facts.reset_at or at < facts.since:
        return at < facts.since
    return lookup(f"gpu.xid.{seen.code}").clears not in OUTLAST_RESET


@check(
    "kernel_log.nvswitch",
    needs={KMSG},
    cost_s=0.05,
    detects=SWITCH_CODES,
    expects={"gpu.count"},
    vendors={"nvidia"},
)
def nvswitch(facts: Facts, host: Host, expected: Expected) -> Answer:
    """No SXid (error report of the NVSwitch driver) of a broken link or switch since the last admission.

    The word Fatal or Non-fatal in the line outranks our table. Those of one switch are one finding a code.
    """
    if reason := no_gpus(facts, expected):
        return reason
    looked, new = _new_records(facts, host)
    telling = [record for record in new if "SXid" in record.text]
    looked["sxids"] = len(telling)
    return Looked(looked=looked, findings=_fold(telling, switches=True) if telling else ())


@check("kernel_log.host", needs={KMSG}, cost_s=0.1, detects=HOST_CODES, stage=Stage.WARN)
def host_faults(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """The kernel has told of no broken hardware beside the GPUs since the last admission.

    Memory and processors (EDAC, machine checks), PCI Express, drives, adapters, file systems, hangs.
    Lines that follow from one another are one finding.
    """
    looked, new = _new_records(facts, host)
    telling = [record for record in new if any(True for _ in kernel_faults.find(record.text))]
    return Looked(looked=looked, findings=_fold(telling, switches=False) if telling else ())


def _new_records(facts: Facts, host: Host) -> tuple[Json, list[Record]]:
    """What was looked at, and the records since the last admission."""
    records, booted_at = _read_log(facts, host)
    since_s = max(0.0, facts.since - booted_at)
    # A line without a time may be new: it counts.
    new = [record for record in records if record.uptime_s is None or record.uptime_s >= since_s]
    return {"records": len(records), "new": len(new), "since_uptime_s": round(since_s, 1)}, new


def _read_log(facts: Facts, host: Host) -> tuple[list[Record], float]:
    """The records that the kernel still has, and the Unix time of the boot, s (0 if nobody asks)."""
    records = parse_records(host.drain(KMSG))
    if not records:
        raise ProbeUnavailable(f"{KMSG}: empty, so nothing was looked at")
    return records, _boot_time(host) if facts.since or facts.reset_at else 0.0


def _fold(records: Iterable[Record], *, switches: bool) -> tuple[Finding, ...]:
    """The reports of the switches' driver, or all others but those that are for kernel_log.xid."""
    from greenroom.parsers import kernel_text  # noqa: PLC0415 - only where there is something to fold

    lines = (f"kernel: [{record.uptime_s or 0.0:.6f}] {' '.join(record.text.split())}" for record in records)
    seen = [one for one in kernel_text.read("\n".join(lines)).sightings if one.code not in CODES]
    return findings_of(
        (one for one in seen if one.code.startswith("nvswitch.") == switches), source="in the kernel log"
    )


def _findings(xids: Iterable[Xid], names: dict[str, str], driver_version: str) -> tuple[Finding, ...]:
    """One for each incident: ten thousand lines of one trouble are one."""
    sightings = [
        Sighting(code=f"gpu.xid.{seen.code}", device=seen.device, uptime_s=seen.uptime_s, evidence=seen.line)
        for seen in xids
    ]
    return findings_of(sightings, source="in the kernel log", names=names, driver_version=driver_version)


def _boot_time(host: Host) -> float:
    """Unix time of the boot, s (proc(5), uptime)."""
    return host.now() - float(host.read("/proc/uptime").split()[0])
