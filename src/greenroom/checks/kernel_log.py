"""What the kernel wrote into its log: the GPU driver's reports, and faults of the rest of the machine."""

from __future__ import annotations

from collections.abc import Iterable

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, check
from greenroom.checks.gpus import no_gpus
from greenroom.checks.incidents import findings_of
from greenroom.faults import lookup
from greenroom.faults.fault import Clears
from greenroom.model.results import Finding
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


@check("kernel_log.host", needs={KMSG}, cost_s=0.1, detects=HOST_CODES, stage=Stage.WARN)
def host_faults(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """The kernel has told of no broken hardware beside the GPUs since the last admission.

    Memory and processors (EDAC, machine checks), PCI Express, drives, adapters, file systems, hangs.
    Lines that follow from one another are one finding.
    """
    records, booted_at = _read_log(facts, host)
    since_s = max(0.0, facts.since - booted_at)
    # A line without a time may be new: it counts.
    new = [record for record in records if record.uptime_s is None or record.uptime_s >= since_s]
    telling = [record for record in new if any(True for _ in kernel_faults.find(record.text))]
    return Looked(
        looked={"records": len(records), "new": len(new), "since_uptime_s": round(since_s, 1)},
        findings=_of_host(telling) if telling else (),
    )


def _read_log(facts: Facts, host: Host) -> tuple[list[Record], float]:
    """The records that the kernel still has, and the Unix time of the boot, s (0 if nobody asks)."""
    records = parse_records(host.drain(KMSG))
    if not records:
        raise ProbeUnavailable(f"{KMSG}: empty, so nothing was looked at")
    return records, _boot_time(host) if facts.since or facts.reset_at else 0.0


def _of_host(records: Iterable[Record]) -> tuple[Finding, ...]:
    """The reports of the NVIDIA driver are for kernel_log.xid."""
    from greenroom.parsers import kernel_text  # noqa: PLC0415 - only where there is something to fold

    lines = (f"kernel: [{record.uptime_s or 0.0:.6f}] {' '.join(record.text.split())}" for record in records)
    seen = kernel_text.read("\n".join(lines)).sightings
    return findings_of((one for one in seen if one.code not in CODES), source="in the kernel log")


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
