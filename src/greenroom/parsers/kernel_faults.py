"""Lines of the kernel and its drivers that tell of broken hardware: one rule a line.

The formats are those of the kernel's own sources: pcie/aer.c, edac_mc.c, mce/core.c, mlx5 events.c,
nvme/host, blk-core.c, ext4, xfs, hung_task.c, watchdog.c, lustre, sunrpc, amdgpu, and NVIDIA's open driver.
"""
# ruff: noqa: E501 - one rule, one line

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from greenroom.parsers.kernel_log import pci_address

_BDF = r"(?P<dev>(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])"
_SEVERITY = r"(?P<severity>Correct(?:ed|able)|Uncorrect(?:ed|able)(?: \((?:Non-)?Fatal\))?|(?:Non-)?Fatal)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a rule saw in a line."""

    code: str
    device: str
    count: int = 1
    detail: dict[str, str]


@dataclass(frozen=True)
class _Rule:
    code: str
    text: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when first needed: all of them take 15 ms, and who asks for the codes needs none."""
        return re.compile(self.text, re.IGNORECASE)


def _rule(code: str, pattern: str) -> _Rule:
    return _Rule(code, pattern)


# Named groups: dev becomes the device, count the count, everything else detail.
RULES = (
    _rule("pcie.aer", rf"{_BDF}: (?:AER: )?PCIe Bus Error: severity={_SEVERITY}, type=(?P<layer>[\w ]{{1,30}})"),
    _rule("pcie.aer", rf"{_BDF}: AER: (?:Multiple )?{_SEVERITY} error (?:message )?received"),
    _rule(
        "pcie.link.limited.narrow",
        rf"(?:mlx5_core|nvidia|bnxt_en|ice|amdgpu|nvme(?: nvme\d+)?) {_BDF}: [\d.]+ Gb/s available PCIe bandwidth, limited by (?P<speed>[\d.]+) GT/s PCIe x(?P<width>\d+) link at "
        r"(?P<at>\S{1,20}) \(capable of [\d.]+ Gb/s with [\d.]+ GT/s PCIe x(?!(?P=width) )(?P<width_max>\d+)",
    ),
    _rule(
        "pcie.link.limited",
        rf"{_BDF}: [\d.]+ Gb/s available PCIe bandwidth, limited by (?P<speed>[\d.]+) GT/s PCIe x(?P<width>\d+) link at "
        r"(?P<at>\S{1,20}) \(capable of [\d.]+ Gb/s with [\d.]+ GT/s PCIe x(?P<width_max>\d+)",
    ),
    _rule("pcie.recovery_failed", rf"{_BDF}: AER: (?:(?:device|subordinate device) (?:recovery failed|reset failed)|can't recover)"),
    _rule("pcie.link_down", rf"(?:pcieport )?{_BDF}: pciehp: Slot\([^)]{{1,20}}\): (?P<why>Link Down|Card not present)"),
    _rule("pcie.config_unreadable", rf"{_BDF}: (?:can't change power state|Unable to change power state) from \S{{1,10}} to D0.{{0,10}}(?:inaccessible|config space)"),
    _rule("pcie.resources", rf"{_BDF}: BAR \d{{1,2}}: (?:no space for|failed to assign|can't assign) \[mem size 0x[1-9a-f][0-9a-f]{{8,15}}\b"),
    _rule("pcie.resources", rf"{_BDF}: BAR \d{{1,2}} \[mem size 0x[1-9a-f][0-9a-f]{{8,15}}[^\]]{{0,20}}\]: (?:can't|failed to) assign"),
    _rule("pcie.resources", rf"NVRM: BAR\d is 0M @ 0x0 \(PCI:{_BDF}?"),
    _rule("pcie.dpc", rf"(?:pcieport )?{_BDF}: (?:AER: )?DPC: (?:containment event|unmasked uncorrectable error)"),
    _rule("host.edac.ce", r"EDAC (?:\w+:? )?MC\d+: (?P<count>\d{1,9}) CE .{0,60}?\bon (?P<dev>\S{1,80})"),
    _rule("host.edac.ue", r"EDAC (?:\w+:? )?MC\d+: (?P<count>\d{1,9}) UE .{0,60}?\bon (?P<dev>\S{1,80})"),
    _rule("host.edac.ce", r"EDAC (?:\w+:? )?MC\d+: CE (?:page|row) .{0,120}?labels? \"?(?P<dev>[^\":]{1,60})"),
    _rule("host.edac.ue", r"EDAC (?:\w+:? )?MC\d+: UE (?:page|row) .{0,120}?labels? \"?(?P<dev>[^\":]{1,60})"),
    _rule("host.edac.ce", r"(?:mc_event:? .{0,60}?)?(?P<count>\d{1,9}) Corrected errors?(?:\(s\))?: .{0,60}? (?:on|at) (?P<dev>\S{1,80})"),
    _rule("host.edac.ue", r"(?:mc_event:? .{0,60}?)?(?P<count>\d{1,9}) Uncorrected errors?(?:\(s\))?: .{0,60}? (?:on|at) (?P<dev>\S{1,80})"),
    _rule("host.mce.storm", r"CMCI storm detected"),
    _rule("host.mce.fatal", r"CPU (?P<cpu>\d+): Machine Check Exception: \w+ Bank (?P<bank>\d+)"),
    _rule("host.mce.fatal", r"not syncing: Fatal machine check|\[Hardware Error\]: System Fatal error"),
    _rule("host.mce.corrected", r"error: Corrected error, no action required.{0,20}CPU (?P<cpu>\d+), bank (?P<bank>[\w ]{1,40})"),
    _rule("host.mce.corrected", r"\[Hardware Error\]: Corrected error, no action required"),
    _rule("host.mce.deferred", r"\[Hardware Error\]: Deferred error, no action required"),
    _rule("host.mce.uncorrected", r"\[Hardware Error\]: Uncorrected, software (?:restartable|containable) error|mce: Uncorrected hardware memory error"),
    _rule("host.mce.thermal", r"CPU(?P<cpu>\d+): (?:Core|Package) temperature (?:is )?above threshold"),
    _rule("host.temperature", r"critical temperature reached|Thermal Zone \[\w{1,8}\] \(\d+ C\).{0,4}critical"),
    _rule("host.memory.poison", r"Memory failure: 0x(?P<page>[0-9a-f]{1,16}): (?:recovery action for|Killing|Sending SIGBUS)"),
    _rule("host.cper.fatal", r"\[Hardware Error\]: event severity: fatal"),
    _rule("host.cper.corrected", r"\[Hardware Error\]: event severity: (?:corrected|info)"),
    _rule("host.cper", r"\[Hardware Error\]: event severity: recoverable"),
    _rule("nic.module.unplugged", rf"mlx5_core {_BDF}:? .{{0,20}}?Port module event.{{0,8}}: module (?P<module>\d+), Cable unplugged"),
    _rule("nic.module.hot", rf"mlx5_core {_BDF}:? .{{0,20}}?Port module event.{{0,8}}: module (?P<module>\d+), .{{0,30}}High Temperature"),
    _rule("nic.module.error", rf"mlx5_core {_BDF}:? .{{0,20}}?Port module event\[error\]: module (?P<module>\d+), (?P<why>[\w ,]{{1,60}})"),
    _rule("nic.power", rf"mlx5_core {_BDF}.{{0,60}}?Detected insufficient power on the PCIe slot"),
    _rule("nic.temperature", rf"mlx5_core {_BDF}.{{0,60}}?(?:High temperature on sensors|temp_warn)"),
    _rule("nic.cmd.timeout", rf"mlx5_core {_BDF}.{{0,90}}?(?:timeout\. Will cause a leak of a command|No done completion|cmd\[\d+\]: .{{0,60}}timeout)"),
    _rule("nic.tx_timeout", rf"mlx5_core {_BDF}.{{0,60}}?TX timeout detected|NETDEV WATCHDOG: .{{0,60}}timed out|: Detected Hardware Unit Hang|\bib\d{{1,2}}: transmit timeout"),
    _rule("nic.cqe", rf"mlx5_core {_BDF}.{{0,40}}?Error cqe on cqn"),
    _rule("nic.pci.lost", rf"mlx5_core {_BDF}.{{0,90}}?(?:PCI reads still not working|pci (?:channel|bus) offline|sensor pci_channel_offline)"),
    _rule("nic.cqe", r"infiniband (?P<dev>\w{1,24}): .{0,60}?(?:dump error cqe|error cqe on cqn)"),
    _rule("nic.health", rf"mlx5_core {_BDF}.{{0,80}}(?:health compromised|device's health|fatal error|health recovery failed|Health issue observed|assert_var|handling bad device)"),
    _rule("nic.health", rf"bnxt_en {_BDF}.{{0,40}}?Firmware (?:fatal condition|heartbeat stopped|halt)"),
    _rule("nic.driver.failed", rf"(?:mlx[45]_core|bnxt_en|ice|i40e|ixgbe|ena): probe of {_BDF} failed with error (?P<why>-\d+)"),
    _rule("nic.driver.failed", rf"(?:mlx[45]_core|bnxt_en|ice|i40e|ixgbe|ena) {_BDF}: (?:.{{0,60}}?mlx5_(?:load_one|init_one|function_setup) failed|probe with driver \w{{1,20}} failed)"),
    _rule("nic.command.refused", rf"mlx5_core {_BDF}.{{0,20}}?mlx5_cmd_(?:out_err|check):\d+:\(pid \d+\): (?P<command>\w{{1,40}})"),
    _rule("nic.link.lost", rf"{_BDF}:? \S{{1,20}}: (?:NIC )?Link (?:is )?down\b"),
    _rule("nic.bond.member_down", r"(?:bond\d{0,3}|bonding): .{0,40}link status definitely down for interface (?P<dev>\S{1,16}?),"),
    _rule("nvme.timeout", r"nvme (?P<dev>nvme\d+): I/O (?:tag )?\d+ .{0,60}timeout, (?P<then>[\w ]{1,40})"),
    _rule("nvme.controller.dead", r"nvme (?P<dev>nvme\d+): (?P<why>Removing after probe failure|Disabling device after reset failure|Device not ready)"),
    _rule("nvme.controller.dead", r"nvme (?P<dev>nvme\d+): controller is down; will reset: CSTS=0xffffffff(?!,? PCI_STATUS=0x(?!ffff))"),
    _rule("nvme.controller.down", r"nvme (?P<dev>nvme\d+): controller is down; will reset(?:: CSTS=(?P<csts>0x\w+))?"),
    _rule("nvme.no_path", r"\b(?P<dev>nvme\d+n\d+): no (?:usable|available) path\b"),
    _rule("nvme.reset", r"nvme (?P<dev>nvme\d+): (?P<why>frozen state error detected|restart after slot reset|resetting controller due to \w{1,30})"),
    _rule("nvme.access_denied", r"(?P<dev>nvme\d+n\d+): I/O Cmd.{0,60}I/O Error \(sct 0x2 / sc 0x86\)"),
    _rule("nvme.io_error", r"(?P<dev>nvme\d+n\d+): I/O Cmd.{0,60}I/O Error \(sct 0x(?P<sct>\w+) / sc 0x(?P<sc>\w+)\)"),
    _rule("nvme.io_error", r"(?P<dev>nvme\d+n\d+): (?:Read|Write|Flush|Compare|Dataset Management)\(0x\w{1,2}\) @ LBA.{0,60}, (?P<why>[A-Z][\w ]{3,60}) \(sct 0x(?P<sct>\w+) / sc 0x(?P<sc>\w+)\)"),
    _rule("disk.medium_error", r"critical medium error, dev (?P<dev>\w{1,32}), sector (?P<sector>\d+)"),
    _rule("disk.medium_error", r"\[(?P<dev>sd[a-z]{1,3})\].{0,30}Sense Key : Medium Error"),
    _rule("disk.io_error", r"\bI/O error,? (?:on )?dev(?:ice)? (?P<dev>[\w-]{1,32}), (?:sector|logical block) (?P<sector>\d+)"),
    _rule("disk.io_error", r"\[(?P<dev>sd[a-z]{1,3})\] tag#\d+ (?:UNKNOWN\(0x\w+\) |FAILED )Result: hostbyte=(?P<why>\w{1,40})"),
    _rule("disk.io_error", r"\b(?P<dev>ata\d{1,3}\.\d\d): failed command: (?P<command>[A-Z ]{1,40})"),
    _rule("disk.reset", r"\b(?P<dev>ata\d{1,3}): (?:hard|soft) resetting link"),
    _rule("disk.gone", r"\b(?P<dev>ata\d{1,3}\.\d\d): disable(?:d|ing)|\bsd (?P<dev2>[\d:]{7,20}): (?:rejecting I/O to offline device|Device offlined)"),
    _rule("disk.controller", rf"(?:megaraid_sas {_BDF}: .{{0,20}}FW in FAULT state|(?P<dev2>mpt[23]sas_cm\d{{1,2}}): .{{0,20}}fault_state\(0x)"),
    _rule("host.raid.failed", r"md/raid(?:0|1|4|5|6|10)?:?(?P<dev>md\w{1,8}): Disk failure on (?P<member>\w{1,16}) detected, failing array"),
    _rule("host.raid", r"md/raid(?:0|1|4|5|6|10)?:?(?P<dev>md\w{1,8}): Disk failure on (?P<member>\w{1,16})"),
    _rule("host.fs.error", r"EXT4-fs error \(device (?P<dev>[^)]{1,40})\)"),
    _rule("host.fs.error", r"(?:EXT[234]-fs|XFS) \((?P<dev>[^)]{1,40})\): (?P<why>I/O error while (?:read|writ)ing \w{1,20}|failed to convert \w{1,20} extents)"),
    _rule("host.fs.error", r"XFS \((?P<dev>[^)]{1,40})\): .{0,40}?(?P<why>Corruption|metadata I/O error|Internal error|log I/O error|writeback error|Filesystem has been shut down)"),
    _rule("host.fs.error", r"BTRFS (?:critical|error) \(device (?P<dev>[^):]{1,40})"),
    _rule("host.fs.error", r"Aborting journal on device (?P<dev>\S{1,40}?)\.?$"),
    _rule("host.fs.readonly", r"EXT4-fs \((?P<dev>[^)]{1,40})\): Remounting filesystem read-only"),
    _rule("host.fs.readonly", r"BTRFS info \(device (?P<dev>[^):]{1,40})[^)]{0,40}\): forced readonly"),
    _rule("host.hung_task", r"(?:INFO: )?task (?P<task>\S{1,40}):(?P<pid>\d+) blocked (?:for more than|on a mutex .{0,80}for) (?P<seconds>\d+)"),
    _rule("host.lockup", r"BUG: (?:soft|hard) lockup - CPU#(?P<cpu>\d+) stuck for (?P<seconds>\d+)s"),
    _rule("host.lockup.hard", r"Watchdog detected hard LOCKUP on cpu (?P<cpu>\d+)"),
    _rule("host.rcu_stall", r"rcu(?:_\w{1,12})?:? .{0,30}(?:detected stalls on CPUs|self-detected stall|detected expedited stalls)"),
    _rule("host.oops", r"BUG: (?:unable to handle|kernel NULL pointer)|kernel BUG at \S|BUG: Bad (?:page|rss-counter) (?:state|map)|\bOops: [0-9a-f]{4} \[#\d|general protection fault, (?:probably|maybe) for"),
    _rule("host.panic", r"Kernel panic - not syncing: (?P<why>.{1,60})"),
    _rule("host.clocksource", r"Marking clocksource '(?P<clock>[\w-]{1,20})' as unstable"),
    _rule("host.memory.fragmented", r"(?P<process>\S{1,20}): page allocation failure: order:(?P<order>\d{1,2})"),
    _rule("host.iommu", r"DMAR: \[(?:DMA|INTR-REMAP)[\w -]{0,20}\] Request device \[?(?P<dev>[0-9a-f:.]{7,12})\]?|AMD-Vi: Event logged \[IO_PAGE_FAULT (?:domain=\w+ )?device=(?P<dev2>[0-9a-f:.]{7,12})"),
    _rule("storage.lustre", r"LustreError: .{0,160}operation (?P<operation>\w+) to node (?P<dev>\S{1,80}) failed: rc = (?P<rc>-?\d+)"),
    _rule("storage.lustre", r"Lustre: .{0,120}: Connection to (?P<target>\S{1,80}) \(at (?P<dev>[^)]{1,60})\) was lost"),
    _rule("storage.lustre", r"LustreError: .{0,120}This client was evicted by (?P<target>[\w-]{1,60})"),
    _rule("storage.nfs.silent", r"nfs: server (?P<dev>\S{1,80}) not responding"),
    _rule("storage.ceph", r"ceph: (?:\[\S{1,60}\]: )?(?P<dev>mds\d{1,4}) (?P<why>hung|caps stale|reconnect denied)"),
    _rule("storage.ceph", r"libceph: (?P<dev>osd\d{1,6}) (?:\S{1,60} )?down$"),
    _rule("gpu.amd.bad_page.threshold", rf"(?:amdgpu {_BDF}: )?.{{0,40}}bad pages? .{{0,60}}(?:reach|exceed)\w* (?:bad page )?threshold"),
    _rule("gpu.amd.ras.uncorrectable", rf"amdgpu {_BDF}: .{{0,40}}uncorrectable hardware error ?\(?(?P<event>\w*)"),
    _rule("gpu.amd.ras.uncorrectable", rf"amdgpu {_BDF}: .{{0,60}}?\b(?P<count>[1-9]\d{{0,8}}) (?:new )?uncorrectable hardware errors detected in (?:total in )?(?P<block>\w{{1,12}}) block"),
    _rule("gpu.amd.ras.deferred", rf"amdgpu {_BDF}: .{{0,60}}?\b(?P<count>[1-9]\d{{0,8}}) (?:new )?deferred hardware errors detected in (?:total in )?(?P<block>\w{{1,12}}) block"),
    _rule("gpu.amd.ras.correctable", rf"amdgpu {_BDF}: .{{0,60}}?\b(?P<count>[1-9]\d{{0,8}}) (?:new )?correctable hardware errors detected in (?:total in )?(?P<block>\w{{1,12}}) block"),
    _rule("gpu.amd.aca", rf"amdgpu {_BDF}: .{{0,40}}Accelerator Check Architecture events logged"),
    _rule("gpu.amd.poison", rf"amdgpu {_BDF}: .{{0,60}}poison (?:is )?consum"),
    _rule("gpu.amd.ring_timeout", rf"amdgpu {_BDF}: .{{0,40}}ring (?P<ring>\S{{1,40}}) timeout"),
    _rule("gpu.amd.ring_timeout", r"amdgpu.{0,30}\*ERROR\* ring (?P<ring>\S{1,40}) timeout"),
    _rule("gpu.amd.reset_failed", rf"amdgpu {_BDF}: .{{0,40}}GPU reset.{{0,20}}failed"),
    _rule("gpu.amd.reset.succeeded", rf"amdgpu {_BDF}: .{{0,40}}GPU reset.{{0,20}}succe"),
    _rule("gpu.amd.reset", rf"amdgpu {_BDF}: .{{0,40}}GPU (?:\w{{1,8}} )?reset begin"),
    _rule("gpu.amd.page_fault", rf"amdgpu {_BDF}: .{{0,40}}(?:\[\w{{1,10}}\d?\] )?(?:no-retry )?page fault \("),
    _rule("gpu.amd.smu", rf"amdgpu {_BDF}: .{{0,40}}SMU: (?:I'm not done|response:0xFFFFFFFF)"),
    _rule("gpu.amd.hang", rf"amdgpu {_BDF}: .{{0,40}}(?:MES(?:\(\d\))? failed to respon|[Rr]ing \S{{1,40}} reset failed|\*ERROR\* ring \S{{1,40}} test failed)"),
    _rule("gpu.amd.hang", r"amdgpu.{0,30}\*ERROR\* MES failed to respon|amdgpu: (?:qcm fence wait loop timeout|The cp might be in an unrecoverable state)|kfd kfd: .{0,40}(?:qcm fence wait loop|cp might be in an unrecoverable)"),
    _rule("gpu.intel.hang", rf"(?:i915|xe) {_BDF}: \[drm\] (?:GPU HANG|\*ERROR\* .{{0,40}}(?:reset failed|Engine reset: .{{0,20}}failed|wedged))"),
    _rule("gpu.amd.lost", rf"amdgpu {_BDF}: .{{0,40}}device lost from bus"),
    _rule("gpu.gsp.timeout", r"NVRM: (?P<dev>GPU\d+) (?:_kgspIsHeartbeatTimedOut|_kgspLogRpcTimeout): .{0,20}?(?:Heartbeat timed out|\*.{0,60}Timeout)"),
    _rule("gpu.gsp.timeout", r"NVRM: Rate limiting GSP RPC error prints for GPU at (?:PCI:)?(?P<dev>[0-9a-f:]{8,16})"),
    _rule("gpu.gsp", r"NVRM: (?P<dev>GPU\d+) _kgspRpcGspEventPmuHalted"),
    _rule("gpu.init.failed", rf"amdgpu {_BDF}: .{{0,20}}Fatal error during GPU init"),
    _rule("gpu.init.failed", r"NVRM: (?:(?P<dev>GPU\d+) )?_?kgspBootGspRm\w*: unexpected WPR2"),
    _rule("gpu.driver.mismatch", r"NVRM: API mismatch: the client (?:\S{1,40} )?has the version (?P<client>[\d.]{3,20}\d)"),
    _rule("gpu.driver.init_failed", rf"NVRM: GPU (?:at PCI:)?{_BDF}:? .{{0,20}}(?:RmInitAdapter|rm_init_adapter) failed"),
    _rule("gpu.driver.init_failed", r"NVRM: (?:RmInitAdapter|rm_init_adapter)(?:\(\d+\))? failed"),
    _rule("gpu.driver.init_failed", rf"nvidia: probe of {_BDF} failed with error|nvidia {_BDF.replace('dev', 'dev2')}: probe with driver nvidia failed"),
    _rule("gpu.driver.init_failed", r"NVRM: None of the NVIDIA (?:graphics adapters|devices|GPUs) were (?:successfully )?(?:initialized|probed)"),
    _rule("gpu.driver.init_failed", r"NVRM: The NVIDIA probe routine failed for (?P<devices>\d{1,2}) device"),
    _rule("gpu.nvlink.discovery", r"NVRM: .{0,10}knvlink\w{1,60}: (?:Getting peer\d+(?:'s)? postRxDetLinkMask failed|Failed to update Rx Detect Link mask)"),
    _rule("gpu.hung", r"NVRM: (?:(?P<dev>GPU\d+) )?krcWatchdog\w*: RC watchdog: GPU is probably locked"),
    _rule("gpu.uvm.fatal", r"uvm encountered global fatal error (?P<status>0x[0-9a-f]{1,4})"),
    _rule("gpu.lost", r"NVRM: (?:(?P<dev>GPU\d+) )?\w{1,40}RegReadError\w*: (?:Possible bad register read|GPU may be lost)|NVRM: (?:(?P<dev2>GPU\d+) )?\w{1,60}: GPU (?:has been |is )lost"),
    _rule("app.oom", r"Out of memory: Kill(?:ed)? process (?P<pid>\d+) \((?P<process>[^)]{1,40})\)"),
    _rule("host.segfault", r"(?P<process>[\w./-]{1,20})\[(?P<pid>\d{1,8})\]: segfault at [0-9a-f]"),
)  # fmt: skip
# A cheap look first: most lines of a log have none of these words (lower case). A large file is searched once
# for each: as few as cover the rules, and the longer the quicker.
HINTS = (
    "xid (", "nvrm", "nvidia", "fallen off", "pcieport", "pcie bandwidth", "aer:", "edac", "error", "memory", "mlx5_core",
    "nvme nvme", "(sct 0x", "amdgpu", "ext4-fs", "xfs (", "btrfs", "aborting journal", "disk failure", " blocked ",
    "watchdog", "bug: ", "kernel bug at", "oops:", "kernel panic", " stall", "lustre", "not responding", "power state",
    "cmci storm", "critical", ": bar ", "machine check", "not syncing", "above threshold", " down", " fault", "_fault",
    "segfault at", "bnxt_en", "probe of", "probe with", "unit hang", "gpu hang", "transmit timeout", "path - ",
    "hostbyte=", "failed command", "resetting link", ".00: disab", "offline", "ceph: mds", "allocation failure", "kfd kfd",
)  # fmt: skip


def hinted(low: str) -> bool:
    """Whether a text in lower case has one of the words without which no rule fits."""
    return any(hint in low for hint in HINTS)


def find(line: str) -> Iterator[Found]:
    """What the first rule that fits sees in a line."""
    if not hinted(line.lower()):
        return
    for rule in RULES:
        if match := rule.pattern.search(line):
            groups = {key: value for key, value in match.groupdict().items() if value}
            device = groups.pop("dev", "") or groups.pop("dev2", "")
            count = int(groups.pop("count", "1"))
            code = _aer_code(groups["severity"]) if rule.code == "pcie.aer" else rule.code
            yield Found(code=code, device=device_of(device), count=max(1, count), detail=groups)
            return


def device_of(text: str) -> str:
    """One spelling; a function other than the first is kept: root ports differ by nothing else."""
    address = pci_address(text)
    function = text.rpartition(".")[2]
    return (
        f"{address}.{function}" if address and function in set("1234567") else address or text.strip().lower()
    )


def _aer_code(severity: str) -> str:
    low = severity.lower()
    if low.startswith("correct"):
        return "pcie.aer.corrected"
    return "pcie.aer.nonfatal" if "non-fatal" in low else "pcie.aer.fatal"
