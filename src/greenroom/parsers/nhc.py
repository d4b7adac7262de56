"""What node health checks of the field print: LBNL NHC lines (alone or gathered from many hosts)."""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers.kernel_log import pci_address
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, lines, number

KIND = "nhc"
_FAILED = re.compile(r"nhc: Health check failed: *(?P<check>\w{1,80}): *(?P<text>.*)$", re.IGNORECASE)
_PASSED = re.compile(r"Node Health Check completed successfully", re.IGNORECASE)
_FIRST = re.compile(r"^(?:ERROR: *)?(?P<check>check_\w{1,60}|gpu_\w{1,60}): *(?P<text>.{1,500})$")
_XID = re.compile(r"Xid \((?P<device>[^)]{1,60})\): (?P<code>\d{1,4})")
_HOST = re.compile(r"^(?P<host>[\w.-]{1,64}) *\| *(?P<text>.*)$")
_PORT = re.compile(r"No IB port (?P<hca>[\w-]{1,40}):(?P<port>\d{1,3})")
_MEASURED = re.compile(
    r"expected (?:>=|<=|>|<)? ?(?P<want>[\d.]{1,15}).{0,40}?measured (?P<have>[\d.]{1,15})"
)
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), code)
    for pattern, code in (
        (r"check_hw_ib|no ib port", "ib.port.down"),
        (r"check_ib_bw|ib_write_bw", "perftest.low"),
        (r"check_ib_link_flapping|link flap", "ib.port.flapped"),
        (r"nccl|rccl", "nccl.bandwidth.low"),
        (r"check_gpu_count", "gpu.missing"),
        (r"check_gpu_bw", "gpu.copy.slow"),
        (r"check_gpu_ecc|ecc error", "gpu.ecc.uncorrectable"),
        (r"check_gpu_xid|\bxid\b", "gpu.xid"),
        (r"check_nvlink|nvlink", "gpu.nvlink.down"),
        (r"check_gpu_clock|throttl", "gpu.throttle.hw"),
        (r"check_nvsmi|healthmon", "gpu.driver.absent"),
        (r"check_hw_physmem|physmem", "host.memory.missing"),
        (r"check_hw_cpuinfo", "host.cpu.missing"),
        (r"check_fs_(?:used|free|size|inodes|iused|ifree)", "host.fs.full"),
        (r"check_fs_mount", "host.mount.missing"),
        (r"check_hw_eth", "nic.link.down"),
        (r"check_nvme_count", "nvme.missing"),
    )
)


def recognise(text: str) -> float:
    """How sure it is NHC."""
    start = head(text)
    if _FAILED.search(start):
        return 0.95
    if _PASSED.search(start):
        return 0.9
    return 0.8 if re.search(r"^[\w.-]+ *\| *ERROR: (?:No results reported|nhc)", start, re.MULTILINE) else 0.0


def read(text: str) -> Reading:
    """Each failed check with its host; a host without a result is not a well one."""
    book = Notebook(KIND)
    for count, line in lines(text):
        gathered = _HOST.match(line)
        host, words = (gathered["host"], gathered["text"]) if gathered else ("", line)
        if found := _FAILED.search(words) or _FIRST.match(words):
            _note(book, host, found, count, line)
        elif "No results reported" in words:
            book.add("node.no_result", host, line=count, evidence=line)
        elif _PASSED.search(words) or (re.match(r"\s*(?:OK|PASS|Healthy)\b", words, re.IGNORECASE) and host):
            book.ok()
    if not book.sightings and not book.healthy:
        book.puzzled("no result of a check: " + text[:100])
    return book.reading()


def _note(book: Notebook, host: str, found: re.Match[str], line: int, evidence: str) -> None:
    port, measured = _PORT.search(found["text"]), _MEASURED.search(found["text"])
    whole = f"{found['check']}: {found['text']}"
    code = next((code for pattern, code in _RULES if pattern.search(whole)), "nhc.failed")
    device = ""
    if code == "gpu.xid":
        report = _XID.search(found["text"])
        number_of = report or re.search(
            r"\bxid\b\D{0,40}?(?P<code>\d{1,3})\b(?!:)", found["text"], re.IGNORECASE
        )
        code = f"gpu.xid.{number_of['code']}" if number_of else "gpu.xid.unnamed"
        device = pci_address(report["device"]) if report else ""
    book.add(
        code,
        f"{port['hca']}/{port['port']}" if port else device or host,
        line=line,
        evidence=evidence,
        host=host,
        check=found["check"],
        measured=number(measured["have"]) if measured else None,
        expected=number(measured["want"]) if measured else None,
    )
