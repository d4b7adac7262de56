"""What the kernel wrote into its log: the GPU driver's reports, and faults of the rest of the machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import MAX_EVIDENCE, Answer, Facts, Looked, check
from greenroom.checks.gpus import no_gpus
from greenroom.faults import load, lookup
from greenroom.model.results import Finding
from greenroom.model.sightings import Incident, Sighting
from greenroom.model.words import Stage
from greenroom.parsers import kernel_faults
from greenroom.parsers.kernel_log import Record, Xid, find_xids, parse_records, pci_address
from greenroom.probes.host import Host, ProbeUnavailable

KMSG = "/dev/kmsg"
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
    records, since_s = _read_log(facts, host)
    xids = [seen for seen in find_xids(records) if _is_new(seen.uptime_s, since_s)]
    names = {pci_address(gpu.pci): gpu.label for gpu in facts.gpus.gpus if gpu.pci}
    return Looked(
        looked={"records": len(records), "xids": len(xids), "since_uptime_s": max(0.0, round(since_s, 1))},
        findings=tuple(_findings(xids, names, facts.gpus.version)) if xids else (),
    )


@check("kernel_log.host", needs={KMSG}, cost_s=0.1, detects=HOST_CODES, stage=Stage.WARN)
def host_faults(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """The kernel has told of no broken hardware beside the GPUs since the last admission.

    Memory and processors (EDAC, machine checks), PCI Express, drives, adapters, file systems, hangs.
    Lines that follow from one another are one finding.
    """
    records, since_s = _read_log(facts, host)
    new = [record for record in records if _is_new(record.uptime_s, since_s)]
    telling = [record for record in new if any(True for _ in kernel_faults.find(record.text))]
    return Looked(
        looked={"records": len(records), "new": len(new), "since_uptime_s": max(0.0, round(since_s, 1))},
        findings=tuple(_fold_host(telling)) if telling else (),
    )


def _read_log(facts: Facts, host: Host) -> tuple[list[Record], float]:
    """The records that the kernel still has, and the uptime in s from which on they count."""
    records = parse_records(host.drain(KMSG))
    if not records:
        raise ProbeUnavailable(f"{KMSG}: empty, so nothing was looked at")
    return records, facts.since - _boot_time(host) if facts.since else 0.0


def _is_new(uptime_s: float | None, since_s: float) -> bool:
    """A line without a time may be new: it counts."""
    return uptime_s is None or uptime_s >= since_s


def _fold_host(records: Iterable[Record]) -> Iterator[Finding]:
    """One finding for each incident; the reports of the NVIDIA driver are for kernel_log.xid."""
    from greenroom.parsers import kernel_text  # noqa: PLC0415 - only where there is something to fold
    from greenroom.policy.incidents import fold  # noqa: PLC0415

    lines = (f"kernel: [{record.uptime_s or 0.0:.6f}] {' '.join(record.text.split())}" for record in records)
    reading = kernel_text.read("\n".join(lines))
    for incident in fold((one for one in reading.sightings if one.code not in CODES), load()):
        yield _finding(incident, incident.device or incident.code.split(".")[1])


def _findings(xids: Iterable[Xid], names: dict[str, str], driver_version: str) -> Iterator[Finding]:
    """One for each incident: ten thousand lines of one trouble are one."""
    from greenroom.policy.incidents import fold  # noqa: PLC0415 - 25 ms that a healthy node is spared

    branch = driver_version.partition(".")[0]
    sightings = [
        Sighting(code=f"gpu.xid.{seen.code}", device=seen.device, uptime_s=seen.uptime_s, evidence=seen.line)
        for seen in xids
    ]
    for incident in fold(sightings, load(), driver_branch=int(branch) if branch.isdecimal() else 0):
        if incident.code != "gpu.xid.154" or incident.detail.get("recovery") != "none":  # that is good news
            yield _finding(incident, names.get(incident.device, incident.device or "gpu?"))


def _finding(incident: Incident, subject: str) -> Finding:
    # The catalogue's own remedy is left out: the controller's site file may name another.
    own = incident.remedy is not lookup(incident.code).remedy
    return Finding(
        code=incident.code,
        subject=subject,
        message=f"in the kernel log, {incident.count} times: {incident.reason}",
        severity=incident.severity,
        measured=str(incident.count),
        source=incident.source,
        evidence=incident.evidence[:MAX_EVIDENCE],
        remedy=incident.remedy if own else None,
    )


def _boot_time(host: Host) -> float:
    """Unix time of the boot, s (proc(5), uptime)."""
    return host.now() - float(host.read("/proc/uptime").split()[0])
