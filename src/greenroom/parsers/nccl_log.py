"""NCCL's (and RCCL's) warnings and PyTorch's NCCL errors in the log of an application.

NCCL prints a warning where it notices a trouble, which is often not where the trouble is.
"""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, lines

KIND = "nccl-log"
_WARN = re.compile(r"\bR?NCCL WARN\b ?(?P<text>.*)$")
_OTHER = re.compile(
    r"Watchdog caught collective operation timeout|ncclSystemError|ncclUnhandledCudaError|ncclInternalError|"
    r"ncclRemoteError|NCCL error in:|DistBackendError|Got completion from peer \S"
)
_HOST = re.compile(r"(?P<host>[A-Za-z][\w.-]{0,60}):\d{1,8}:\d{1,8} \[(?P<gpu>\d{1,2})\]")
_HCA = re.compile(r"\b(mlx5_\w{1,12}|bnxt_re\w{0,12}|irdma\d{0,3}|hns_\w{1,12})(?::(\d{1,3}))?")
_STATUS = re.compile(r"\bstatus ?= ?(\d{1,3})")
# First match counts. ibv_wc_status 12 and 13: retries used up, the far side or the way there is gone.
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), code)
    for pattern, code in (
        (r"async event ?: ?(?:port error|port_err|device fatal|local catastrophic)", "nccl.port_error"),
        (r"async (?:fatal )?event", "nccl.async_event"),
        (r"got completion .{0,120}(?:status ?= ?|error )\d|completion with error", "nccl.ib.completion"),
        (r"uncorrectable (?:nvlink|ecc)|ecc error", "gpu.ecc.uncorrectable"),
        (r"nvls|multicast", "nccl.nvls"),
        (r"cuda failure|hip failure|ncclUnhandledCudaError", "nccl.cuda"),
        (r"call to ibv_\w+ failed|ibv_\w+ failed", "nccl.ib.call"),
        (r"no space left on device|/dev/shm|error while creating shared memory", "nccl.shm"),
        (r"watchdog caught collective operation timeout|timed? ?out", "nccl.timeout"),
        (r"remote process exited|peer .{0,80}(?:exited|closed)|connection closed by", "nccl.peer_gone"),
        (r"no socket interface|no interface found", "nccl.config"),
        (r"connection (?:refused|reset)|connect to .{0,80}failed|socket", "nccl.socket"),
        (r"bootstrap", "nccl.config"),
        (r"ncclRemoteError", "nccl.peer_gone"),
        (r"ncclSystemError", "nccl.system"),
    )
)


def recognise(text: str) -> float:
    """How sure it is a log with words of NCCL."""
    start = head(text)
    if _WARN.search(start):
        return 0.85
    if _OTHER.search(start):
        return 0.7
    return 0.4 if re.search(r"\bNCCL (?:INFO|VERSION|version)\b", start) else 0.0


def read(text: str) -> Reading:
    """Each warning; a log with only NCCL's information lines is well."""
    book = Notebook(KIND)
    informed = False
    for count, line in lines(text):
        found = _WARN.search(line)
        if not found and not _OTHER.search(line):
            informed = informed or "NCCL INFO" in line
            continue
        words = found["text"] if found else line
        code = next((code for pattern, code in _RULES if pattern.search(words)), "nccl.warn")
        hca, host, status = _HCA.search(words), _HOST.search(line), _STATUS.search(words)
        book.add(
            code,
            f"{hca[1]}/{hca[2] or 1}" if hca else "",
            line=count,
            evidence=line,
            host=host["host"] if host else None,
            gpu=host["gpu"] if host else None,
            status=int(status[1]) if status else None,
        )
    if informed and not book.sightings:
        book.ok()
    elif not book.sightings:
        book.puzzled("no word of NCCL: " + text[:100])
    return book.reading()
