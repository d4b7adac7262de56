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
        "pcie.link.limited",
        rf"{_BDF}: [\d.]+ Gb/s available PCIe bandwidth, limited by (?P<speed>[\d.]+) GT/s PCIe x(?P<width>\d+) link at "
        r"(?P<at>\S{1,20}) \(capable of [\d.]+ Gb/s with [\d.]+ GT/s PCIe x(?P<width_max>\d+)",
    ),
    _rule("host.edac.ce", r"EDAC (?:\w+ )?MC\d+: (?P<count>\d{1,9}) CE .{0,60}?\bon (?P<dev>\S{1,80})"),
    _rule("host.edac.ue", r"EDAC (?:\w+ )?MC\d+: (?P<count>\d{1,9}) UE .{0,60}?\bon (?P<dev>\S{1,80})"),
    _rule("host.mce.fatal", r"CPU (?P<cpu>\d+): Machine Check Exception: \w+ Bank (?P<bank>\d+)"),
    _rule("host.mce.fatal", r"not syncing: Fatal machine check"),
    _rule("host.mce.corrected", r"error: Corrected error, no action required.{0,20}CPU (?P<cpu>\d+), bank (?P<bank>[\w ]{1,40})"),
    _rule("nic.module.unplugged", rf"mlx5_core {_BDF}:? .{{0,20}}?Port module event.{{0,8}}: module (?P<module>\d+), Cable unplugged"),
    _rule("nic.module.hot", rf"mlx5_core {_BDF}:? .{{0,20}}?Port module event.{{0,8}}: module (?P<module>\d+), .{{0,30}}High Temperature"),
    _rule("nic.module.error", rf"mlx5_core {_BDF}:? .{{0,20}}?Port module event\[error\]: module (?P<module>\d+), (?P<why>[\w ,]{{1,60}})"),
    _rule("nic.health", rf"mlx5_core {_BDF}.{{0,80}}(?:health compromised|device's health|fatal error)"),
    _rule("nvme.timeout", r"nvme (?P<dev>nvme\d+): I/O (?:tag )?\d+ .{0,60}timeout, (?P<then>[\w ]{1,40})"),
    _rule("nvme.controller.dead", r"nvme (?P<dev>nvme\d+): (?P<why>Removing after probe failure|Disabling device after reset failure|Device not ready|controller is down)"),
    _rule("nvme.access_denied", r"(?P<dev>nvme\d+n\d+): I/O Cmd.{0,60}I/O Error \(sct 0x2 / sc 0x86\)"),
    _rule("nvme.io_error", r"(?P<dev>nvme\d+n\d+): I/O Cmd.{0,60}I/O Error \(sct 0x(?P<sct>\w+) / sc 0x(?P<sc>\w+)\)"),
    _rule("disk.medium_error", r"critical medium error, dev (?P<dev>\w{1,32}), sector (?P<sector>\d+)"),
    _rule("disk.io_error", r"\bI/O error, dev (?P<dev>\w{1,32}), sector (?P<sector>\d+)"),
    _rule("host.fs.error", r"EXT4-fs error \(device (?P<dev>[^)]{1,40})\)"),
    _rule("host.fs.error", r"XFS \((?P<dev>[^)]{1,40})\): .{0,20}?(?P<why>Corruption|metadata I/O error|Internal error|log I/O error|Filesystem has been shut down)"),
    _rule("host.fs.error", r"BTRFS (?:critical|error) \(device (?P<dev>[^):]{1,40})"),
    _rule("host.fs.readonly", r"EXT4-fs \((?P<dev>[^)]{1,40})\): Remounting filesystem read-only"),
    _rule("host.hung_task", r"INFO: task (?P<task>\S{1,40}):(?P<pid>\d+) blocked for more than (?P<seconds>\d+) seconds"),
    _rule("host.lockup", r"BUG: (?:soft|hard) lockup - CPU#(?P<cpu>\d+) stuck for (?P<seconds>\d+)s"),
    _rule("storage.lustre", r"LustreError: .{0,160}operation (?P<operation>\w+) to node (?P<dev>\S{1,80}) failed: rc = (?P<rc>-?\d+)"),
    _rule("storage.nfs.silent", r"nfs: server (?P<dev>\S{1,80}) not responding"),
    _rule("gpu.amd.ras.uncorrectable", rf"amdgpu {_BDF}: .{{0,40}}uncorrectable hardware error ?\(?(?P<event>\w*)"),
    _rule("gpu.amd.aca", rf"amdgpu {_BDF}: .{{0,40}}Accelerator Check Architecture events logged"),
    _rule("gpu.amd.ring_timeout", rf"amdgpu {_BDF}: .{{0,40}}ring (?P<ring>\S{{1,40}}) timeout"),
    _rule("gpu.amd.reset_failed", rf"amdgpu {_BDF}: .{{0,40}}GPU reset.{{0,20}}failed"),
    _rule("gpu.gsp.timeout", r"NVRM: (?P<dev>GPU\d+) (?:_kgspIsHeartbeatTimedOut|_kgspLogRpcTimeout): .{0,20}?(?:Heartbeat timed out|\*.{0,60}Timeout)"),
    _rule("gpu.driver.mismatch", r"NVRM: API mismatch: the client has the version (?P<client>[\d.]{3,20}\d)"),
    _rule("gpu.driver.init_failed", rf"NVRM: GPU (?:at PCI:)?{_BDF}:? .{{0,20}}RmInitAdapter failed"),
    _rule("app.oom", r"Out of memory: Killed process (?P<pid>\d+) \((?P<process>[^)]{1,40})\)"),
)  # fmt: skip
# A cheap look first: most lines of a log have none of these words (lower case).
HINTS = (
    "aer:", "pcie ", "edac", "machine check", "corrected error", "mlx5_core", "nvme", "medium error", "i/o error",
    "ext4-fs", "xfs", "btrfs", "blocked for more", "lockup", "lustre", "not responding", "amdgpu", "nvrm",
    "out of memory",
)  # fmt: skip


def find(line: str) -> Iterator[Found]:
    """What the first rule that fits sees in a line."""
    low = line.lower()
    if not any(hint in low for hint in HINTS):
        return
    for rule in RULES:
        if match := rule.pattern.search(line):
            groups = {key: value for key, value in match.groupdict().items() if value}
            device = groups.pop("dev", "")
            count = int(groups.pop("count", "1"))
            code = _aer_code(groups["severity"]) if rule.code == "pcie.aer" else rule.code
            yield Found(code=code, device=_device(device), count=max(1, count), detail=groups)
            return


def _device(text: str) -> str:
    """One spelling; a function other than the first is kept: root ports differ by nothing else."""
    address = pci_address(text)
    function = text.rpartition(".")[2]
    return f"{address}.{function}" if address and function in set("1234567") else address or text.lower()


def _aer_code(severity: str) -> str:
    low = severity.lower()
    if low.startswith("correct"):
        return "pcie.aer.corrected"
    return "pcie.aer.nonfatal" if "non-fatal" in low else "pcie.aer.fatal"
