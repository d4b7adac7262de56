"""What programs, containers, Kubernetes and exporters say of GPUs: one rule a line.

Words: cudaGetErrorString and cuGetErrorString (CUDA toolkit), nvmlErrorString, k8s-device-plugin, kubelet,
``kubectl describe node``, dcgm-exporter, systemd, gpu-burn.
"""

# ruff: noqa: E501 - one rule, one line

from __future__ import annotations

import re
from dataclasses import dataclass

from greenroom.model.sightings import Reading
from greenroom.parsers.framing import peel
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.nvml_words import find_error
from greenroom.parsers.texts import MAX_LINE_CHARS, head, lines
from greenroom.parsers.wraps import clean

KIND = "app-log"
_UUID = r"(?P<uuid>(?:GPU|MIG)-[0-9a-fA-F-]{4,40})"


@dataclass(frozen=True, slots=True)
class _Rule:
    code: str
    """``{name}`` is filled in from the groups."""
    pattern: re.Pattern[str]


def _rule(code: str, pattern: str) -> _Rule:
    return _Rule(code, re.compile(pattern, re.IGNORECASE))


# First match counts.
RULES = (
    _rule("gpu.xid.{xid}", rf"XidCriticalError: Xid=(?P<xid>\d{{1,4}}) on Device={_UUID}"),
    _rule("gpu.xid.{xid}", r"\bXidCriticalError\s+True\b.{0,200}?\{\\?\"(?P<xid>\d{1,3})\\?\""),
    _rule("gpu.xid.{xid}", r"DCGM_FI_DEV_XID_ERRORS\{[^}]{0,600}\} (?P<xid>[1-9]\d{0,3})(?:\.0+)?(?:\s|$)"),
    _rule("gpu.xid.{xid}", r"\b(?:error|warn\w{0,3}|crit\w{0,4}|fatal|[EWF]\d{4})\b.{0,200}?\bxid(?:[ =:#]{1,3}| error:? | code:? )(?P<xid>\d{1,3})\b(?![:.\w])"),
    _rule("gpu.row_remap.failure", r"DCGM_FI_DEV_ROW_REMAP_FAILURE\{[^}]{0,600}\} [1-9]"),
    _rule("gpu.row_remap.pending", r"DCGM_FI_DEV_ROW_REMAP_PENDING\{[^}]{0,600}\} [1-9]"),
    _rule("gpu.ecc.uncorrectable", r"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL\{[^}]{0,600}\} [1-9]"),
    _rule("gpu.plugin.unhealthy", rf"device marked unhealthy: {_UUID}|{_UUID.replace('<uuid>', '<uuid2>')}.{{0,60}}(?:marked|went|is|as) unhealthy"),
    _rule("gpu.ecc.uncorrectable", r"uncorrectable ECC error(?: was)? (?:encountered|detected)|cudaErrorECCUncorrectable|CUDA_ERROR_ECC_UNCORRECTABLE"),
    _rule("app.cuda.nvlink", r"uncorrectable NVLink error|cudaErrorNvlinkUncorrectable|CUDA_ERROR_NVLINK_UNCORRECTABLE"),
    _rule("app.cuda.contained", r"CUDA_ERROR_CONTAINED|cudaErrorContained|Invalid access of peer GPU memory over nvlink"),
    _rule("app.cuda.hardware", r"CUDA_ERROR_HARDWARE_STACK_ERROR|cudaErrorHardwareStackError|hardware stack error"),
    _rule("fabric.state", r"system not yet initialized|CUDA_ERROR_SYSTEM_NOT_READY|cudaErrorSystemNotReady|\bError 802\b"),
    _rule("gpu.driver.mismatch", r"unsupported display driver / cuda driver combination|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH|cudaErrorSystemDriverMismatch|\bError 803\b"),
    _rule("app.cuda.busy", r"CUDA-capable device\(s\) is/are busy or unavailable|all CUDA-capable devices are busy|CUDA_ERROR_DEVICE_UNAVAILABLE"),
    _rule("app.cuda.none", r"No CUDA GPUs are available|no CUDA-capable device is detected|CUDA_ERROR_NO_DEVICE|cudaErrorNoDevice|No HIP GPUs are available|hipErrorNoDevice|hsa api call failure|HSA_STATUS_ERROR_OUT_OF_RESOURCES"),
    _rule("app.cuda.launch", r"(?:CUDA|cuda|hip|HIP).{0,80}(?:unspecified launch failure|launch timed out)|CUDA_ERROR_LAUNCH_(?:FAILED|TIMEOUT)|cudaErrorLaunch(?:Failure|Timeout)"),
    _rule("app.cuda.unknown", r"(?:CUDA|hip)(?: error)?:? unknown error|CUDA_ERROR_UNKNOWN|cudaErrorUnknown|CUDA driver initialization failed|cuInit\(?\)?.{0,40}(?:failed|999)"),
    _rule("app.cuda.unknown", r"HW Exception by GPU node-\d+"),
    _rule("app.cuda", r"Memory access fault by GPU node-\d+|(?:CUDA|hip|HIP).{0,80}(?:illegal memory access|device-side assert|misaligned address|illegal instruction|invalid device (?:function|ordinal)|no kernel image|out of memory|invalid program counter)|CUDA_ERROR_(?:ILLEGAL_ADDRESS|ASSERT|MISALIGNED_ADDRESS|OUT_OF_MEMORY)|NVIDIA driver on your system is too old|forward compatibility was attempted"),
    _rule("gpu.plugin.unknown_device", r"nvidia-container-cli: device error: (?P<dev>\S{1,60}): unknown device"),
    _rule("k8s.gpu.unhealthy", r"Allocate failed due to .{0,200}(?:no healthy devices present|unavailable|unhealthy)|UnexpectedAdmissionError.{0,200}nvidia\.com/gpu"),
    _rule("k8s.gpu.condition", r"\bGpu\w{3,30}Watch\s*=?\s+True\b(?!.{0,300}DCGM_FR_)"),
    _rule("k8s.node.problem", r"^\s*(?P<condition>KernelDeadlock|ReadonlyFilesystem|AcceleratedHardware\w{0,20}Unhealthy|Frequent\w{4,30}Restart)\s+True\b"),
    _rule("k8s.node.pressure", r"^\s*(?P<condition>DiskPressure|MemoryPressure|PIDPressure|NetworkUnavailable)\s+True\b"),
    _rule("k8s.node.not_ready", r"^\s*Ready\s+(?:False|Unknown)\s+\w{3},|\bNodeNotReady\b|NodeStatusUnknown|PLEG is not healthy"),
    _rule("k8s.gpu.insufficient", r"Insufficient (?:nvidia|amd)\.com/gpu"),
    _rule("gpu.memory.miscompute", r"^\s*GPU (?P<gpu>\d{1,3}): FAULTY\b"),
    _rule("host.nfs", r"Stale (?:NFS )?file handle"),
    _rule("host.io.error", r"(?:cannot (?:access|open|read|stat)|reading|writing|open\w*|OSError: \[Errno 5\]).{0,120}Input/output error"),
    _rule("host.fs.readonly", r": Read-only file system\s*$"),
    _rule("host.service.failed", r"(?P<unit>(?:nvidia-(?!fabric)|dcgm|nv-host|slurmd|slurmctld|kubelet|munge|openibd|containerd|docker|gpu)[\w.@-]{0,40}\.service): (?:Failed with result|Main process exited, code=(?:exited, status=[1-9]|killed|dumped)|Start request repeated too quickly)"),
    _rule("host.service.failed", r"Failed to start (?P<unit>.{0,60}(?:NVIDIA|DCGM|Slurm|kubelet|Kubelet|openibd|containerd).{0,60})"),
)  # fmt: skip
# NVML's words, from libraries and containers: an exception's name, or what follows "nvml error:".
_NVML = re.compile(
    r"NVMLError_?(?P<name>\w{0,40})|nvml error: |\bNVML: |Failed to initialize NVML|device handle for|"
    r"NVIDIA-SMI (?:has failed|couldn't)|infoROM is corrupted|No devices were found|GPU is lost|(?:GPU|device)\s?\S{0,20} requires reset",
    re.IGNORECASE,
)
_NAMES = {
    "gpuislost": "gpu.lost",
    "unknown": "nvml.999",
    "drivernotloaded": "gpu.driver.absent",
    "libraryversionmismatch": "gpu.driver.mismatch",
    "librmversionmismatch": "gpu.driver.mismatch",
    "librm_version_mismatch": "gpu.driver.mismatch",
    "librarynotfound": "gpu.driver.absent",
    "resetrequired": "gpu.reset_required",
    "corruptedinforom": "nvml.14",
    "irqissue": "nvml.11",
    "insufficientpower": "nvml.8",
    "timeout": "nvml.10",
    "notsupported": "",
    "notfound": "nvml.6",
    "nopermission": "nvml.4",
}
_BDF = re.compile(
    r"\b(?:pci_?bus_?id|PCI|gpu)[\"=: ]{1,4}\"?(?P<bdf>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2})"
)
_INDEX = re.compile(
    r"\bgpu=\"(?P<metric>\d{1,3})\"|\bGPU ?[#:]?(?P<index>\d{1,2})\b(?![:.\w])|device ordinal (?P<ordinal>\d{1,2})\b"
)
_HOSTNAME = re.compile(r"\bHostname=\"(?P<host>[\w.-]{1,64})\"")
_METRIC = re.compile(
    r"^DCGM_FI_\w+\{|^\s*(?:Ready\s+True|\w+Pressure\s+False|KernelDeadlock\s+False)\b|^\s*GPU \d+: OK\b"
)
# A person who asks or explains reports nothing.
_EXPLAINS = re.compile(
    r"\?\s*$|\b(?:means?|meaning|would|how to|what (?:is|does)|e\.g\.|for example|documentation|see https?:|if you)\b",
    re.IGNORECASE,
)
_SIGN = re.compile(
    r"XidCritical|DCGM_FI_DEV_|CUDA|cuda|\bhip|\bHIP|\bhsa |HSA_|nvml|NVML|ECC error|NVLink error|unhealthy|Error 80\d|Watch\b|nvidia-container|"
    r"Pressure|KernelDeadlock|Readonly|^[ \t]*Ready\s|NodeNotReady|NodeStatus|PLEG|Insufficient|FAULTY|\.service|Failed to start|"
    r"[Xx][Ii][Dd]|Allocate failed|UnexpectedAdm|Accelerated|GPU is lost|requires reset|No devices were|device handle|GPU \d+: OK|"
    r"by GPU node|Asserted|file handle|Input/output|Read-only file|infoROM is corr|NVIDIA-SMI |not yet initialized|unsupported display",
    re.MULTILINE,
)


def recognise(text: str) -> float:
    """How sure it is that it says something of GPUs or their node."""
    start = head(text)
    if not _SIGN.search(start):
        return 0.0
    book = Notebook(KIND)
    _read(start, book)
    if book.sightings:
        return 0.58
    return 0.4 if book.healthy else 0.0


def read(text: str) -> Reading:
    """Each message with a known meaning. The rest of such a log is other people's business."""
    book = Notebook(KIND)
    _read(text, book)
    if not book.sightings and not book.healthy:
        book.puzzled("no known message of a program or tool: " + text[:100])
    return book.reading()


def _read(text: str, book: Notebook) -> None:
    told: set[tuple[str, str, str]] = set()
    for count, raw in lines(text):
        if not raw or not _SIGN.search(raw):
            continue
        line = clean(raw)[:MAX_LINE_CHARS]
        found = _find(line)
        if found is None:
            book.ok(bool(_METRIC.match(line)))
            continue
        code, device = found
        framed = peel(line)
        host = framed.host or ((named := _HOSTNAME.search(line)) and named["host"]) or ""
        if (code, device, host) in told and code.startswith(("app.", "gpu.ecc", "fabric", "nvml.")):
            continue  # a stack of frames and threads repeats one error
        told.add((code, device, host))
        book.add(code, device, line=count, evidence=line, when=framed.when, host=host)


def _find(line: str) -> tuple[str, str] | None:
    """(code, device) of what the line tells."""
    if _EXPLAINS.search(line) and "Error" not in line[:60]:
        return None
    for rule in RULES:
        if match := rule.pattern.search(line):
            groups = {key: value for key, value in match.groupdict().items() if value}
            return rule.code.format(**groups), _device(line, groups)
    if match := _NVML.search(line):
        if name := (match["name"] or "").lower():
            code = _NAMES.get(name, "nvml.999" if name else "")
            return (code, _device(line, {})) if code else None
        if error := find_error(line):
            return error.code, error.device
    return None


def _device(line: str, groups: dict[str, str]) -> str:
    if uuid := groups.get("uuid") or groups.get("uuid2") or groups.get("dev"):
        return uuid
    if "gpu" in groups:
        return f"gpu:{groups['gpu']}"
    if found := _BDF.search(line):
        domain, rest = found["bdf"].split(":", 1)
        return f"{int(domain, 16):04x}:{rest.lower()}"
    if found := _INDEX.search(line):
        return f"gpu:{found['metric'] or found['index'] or found['ordinal']}"
    return groups.get("unit", groups.get("condition", ""))[:60].strip()
