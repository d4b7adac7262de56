"""What the GPU driver wrote into the kernel's log."""

from __future__ import annotations

from collections.abc import Iterable

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, check, found
from greenroom.checks.gpus import no_gpus
from greenroom.faults import codes
from greenroom.model.results import Finding
from greenroom.parsers.kernel_log import XID_RECOVERY_ACTION, Xid, find_xids, parse_records, pci_address
from greenroom.probes.host import Host, ProbeUnavailable

KMSG = "/dev/kmsg"
# nvml.h, GPU_RECOVERY_ACTION; from 5 on, driver branches number differently
RECOVERY = {
    1: "gpu.recovery.reset",
    2: "gpu.recovery.reboot",
    3: "gpu.recovery.drain",
    4: "gpu.recovery.drain",
}


@check(
    "kernel_log.xid",
    needs={KMSG},
    cost_s=0.05,
    detects=set(codes("xid")),
    expects={"gpu.count"},
    vendors={"nvidia"},
)
def xid(facts: Facts, host: Host, expected: Expected) -> Answer:
    """No Xid (error report of the NVIDIA driver) that speaks of broken hardware since the last admission.

    What each Xid means and asks for is in the fault catalogue; those of user programs are notes.
    """
    if reason := no_gpus(facts, expected):
        return reason
    records = parse_records(host.drain(KMSG))
    if not records:
        raise ProbeUnavailable(f"{KMSG}: empty, so nothing was looked at")
    since_s = facts.since - _boot_time(host) if facts.since else 0.0
    # A line without a time may be new: it counts.
    xids = [seen for seen in find_xids(records) if seen.uptime_s is None or seen.uptime_s >= since_s]
    names = {pci_address(gpu.pci): gpu.label for gpu in facts.gpus.gpus if gpu.pci}
    return Looked(
        looked={"records": len(records), "xids": len(xids), "since_uptime_s": max(0.0, round(since_s, 1))},
        findings=tuple(_group(xids, names)),
    )


def _group(xids: Iterable[Xid], names: dict[str, str]) -> Iterable[Finding]:
    """One finding for each GPU and code: ten thousand lines of one incident are one incident."""
    groups: dict[tuple[str, str], list[Xid]] = {}
    for seen in xids:
        code = f"gpu.xid.{seen.code}"
        if seen.code == XID_RECOVERY_ACTION:
            if seen.recovery is None:  # back to "none": good news
                continue
            code = RECOVERY.get(seen.recovery, "gpu.recovery.other")
        subject = names.get(seen.device, seen.device or "gpu?")
        groups.setdefault((subject, code), []).append(seen)
    for (subject, code), group in groups.items():
        yield found(
            code,
            subject=subject,
            message=f"Xid {group[0].code} in the kernel log, {len(group)} times",
            measured=str(len(group)),
            evidence=tuple(seen.line for seen in group[-3:]),
        )


def _boot_time(host: Host) -> float:
    """Unix time of the boot, s (proc(5), uptime)."""
    return host.now() - float(host.read("/proc/uptime").split()[0])
