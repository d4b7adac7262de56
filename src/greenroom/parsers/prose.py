"""What people tell in sentences: a description of a screen, the words of a report, a message in a chat.

Hearsay: rules are few and want a clear statement. Questions, explanations and hypotheses tell nothing.
"""

# ruff: noqa: E501 - one rule, one line

from __future__ import annotations

import re
from collections.abc import Iterator

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, number, pci_address

KIND = "prose"
MAX_CHARS = 20_000
_TOLD = re.compile(
    r"^\s*\((?:prose|screenshot|described|description|paraphrased?|summary|from the|text of|smartctl|nvidia-smi|dcgmi|ibstat|dmesg|"
    r"photo|as told|chat|mail|report)\b[^)]{0,120}\)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?;\n]{1,600}(?:\.(?=\d)[^.!?;\n]{1,600}){0,20}[.!?;\n]?")
_NO_STATEMENT = re.compile(
    r"\?\s*$|\b(?:means|meaning|would|could be|might|if (?:you|the|a|your)|how (?:to|do|can)|what (?:is|does)|e\.g\.|for example|"
    r"the manual|documentation says|according to|should (?:be|I|we)|please|no longer|not (?:a|the) (?:fault|problem)|fixed|resolved)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:no|not|never|without|none|isn't|doesn't|didn't|0)\s+(?:\w+\s+){0,2}$", re.IGNORECASE
)
_SUBJECT = re.compile(
    r"\bGPU ?#?(?P<index>\d{1,2})\b(?![:.\w])|\b(?P<hca>mlx5_\d{1,2}|ib\d{1,2}|nvme\d{1,3}(?:n\d)?|eth\d{1,2})\b"
)
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), code)
    for pattern, code in (
        (r"\bS-?Xids?[ =:#]{1,3}(?:error |code )?(?P<sxid>\d{5})\b", "nvswitch.sxid.{sxid}"),
        (r"\bXids?[ =:#]{1,3}(?:errors? |codes? )?(?P<xid>\d{1,3})\b(?![:.\w])", "gpu.xid.{xid}"),
        (r"\b(?:nvlink )?p2p (?:is|was|traffic is|remains) (?:dead|broken|not working)|p2p traffic fails|fall(?:s|ing)? back to pcie", "gpu.p2p.dead"),
        (r"\b(?:gpus?|cards?) (?:\S+ )?(?:has|have|had) fallen off the bus|fell off the bus", "gpu.xid.79"),
        (r"\bgpus? (?:\S+ )?(?:is|are|was|went|got) lost\b", "gpu.lost"),
        (r"\bonly (?P<have>\d|\w+) (?:of|out of) (?:the )?(?P<want>\d+|\w+) gpus\b|\b(?P<have2>\d) ?/ ?8 gpus (?:visible|detected|shown)|(?:one|a) gpu (?:is|went) missing|nvidia-smi (?:shows|lists|sees) only \d", "gpu.missing"),
        (r"(?:fan(?: speed)?|power|temp\w*|perf)\b[^.]{0,40}\bERR!", "gpu.sensor.unreadable"),
        (r"nvidia-smi (?:hangs|hung|is stuck|never returns|freezes)", "gpu.hung"),
        (r"row remap\w* fail\w*|remapping failure", "gpu.row_remap.failure"),
        (r"(?:row remap\w*|remapped rows?) (?:is |are )?pending|pending row remap", "gpu.row_remap.pending"),
        (r"uncorrectable ecc errors?|double[- ]bit ecc errors?", "gpu.ecc.uncorrectable"),
        (r"hw (?:thermal )?slowdown (?:is |was )?active|thermal(?:ly)? throttl\w+|hardware slowdown", "gpu.throttle.hw"),
        (r"nvlinks? (?:\S+ ){0,3}(?:is|are|went|shows?|stay) (?:down|inactive)|all links are inactive", "gpu.nvlink.down"),
        (r"fabric (?:manager )?(?:state )?(?:is |stays |stuck )?(?:in progress|not started)", "fabric.state"),
        (r"fabric ?manager (?:fails|failed|does not|doesn't|cannot|could not|crash\w*)", "fabric.service.failed"),
        (r"(?:port|link|hca) (?:\S+ )?(?:is |stays |goes |went |keeps )?(?:flap\w+|going up and down)", "ib.port.flapped"),
        (r"(?:port|hca) (?:\S+ )?(?:is |stays |remains )(?:in )?(?:down|polling)", "ib.port.polling"),
        (r"(?:port|hca|state) (?:\S+ )?(?:is |stays |remains )(?:in )?(?:init\w*)", "ib.port.init"),
        (r"percentage used\D{0,40}(?P<percent>\d{1,3}) ?%", "nvme.worn"),
        (r"available spare\D{0,40}(?P<spare>\d{1,3}) ?%", "nvme.spare"),
        (r"(?:critical warning|smart)\D{0,20}(?:is|shows|says|reports) (?:0x0*[1-9a-f]\w*|fail\w+)", "nvme.critical_warning"),
        (r"(?:file ?system|mount|disk|root) (?:\S+ )?(?:went|is|became|turned) read-?only", "host.fs.readonly"),
        (r"(?:disk|file ?system|root|/\w+) (?:is|was) (?:100 ?% )?full|no space left on device", "host.fs.full"),
        (r"(?:all_?reduce|nccl|busbw|bus bandwidth|collectives?)\b[^.]{0,80}\b(?:only|slow\w*|drops?|dropped|half|degraded|lower than)", "nccl.bandwidth.low"),
        (r"(?:training|job|nccl|collective|all_?reduce) (?:\S+ )?(?:hangs|hung|is stuck|stalls|times? out)", "nccl.timeout"),
    )
)  # fmt: skip
_MEASURED = re.compile(r"\b(?:busbw|algbw|bus bandwidth|gb/s)\b", re.IGNORECASE)
_WELL = re.compile(
    r"\b(?:all (?:gpus|links|ports|tests|checks) (?:are |is )?(?:ok|healthy|active|up|pass\w*)|works? (?:fine|well)|no errors?)\b",
    re.IGNORECASE,
)


def recognise(text: str) -> float:
    """How sure it is a description. Anything with a form of its own goes first."""
    start = head(text)
    if "DCGM_FR_" in start:
        return 0.0  # its names say more than the words around them
    if _TOLD.match(text):
        return 0.72
    if not _reads_like_prose(start):
        return 0.0
    return 0.35 if any(True for _ in _find(start)) else 0.0


def _reads_like_prose(text: str) -> bool:
    """Words with blanks between them, few signs and digits."""
    words = text.split()
    plain = sum(word.strip(".,;:!?()'\"").isalpha() for word in words)
    return len(words) >= 4 and plain * 10 >= len(words) * 6


def read(text: str) -> Reading:
    """What is clearly stated."""
    book = Notebook(KIND)
    for code, device, evidence, detail in _find(text[:MAX_CHARS]):
        book.add(code, device, line=1, evidence=evidence, hearsay=True, **detail)
    if not book.sightings and (_MEASURED.search(text) or _WELL.search(text)):
        book.ok()
    elif not book.sightings:
        book.puzzled("no clear statement: " + text[:150])
    return book.reading()


def _find(text: str) -> Iterator[tuple[str, str, str, dict[str, object]]]:
    told: set[tuple[str, str]] = set()
    body = _TOLD.sub(
        lambda found: found[0].replace("(", " ").replace(")", " ") if "smart" in found[0].lower() else "",
        text,
        count=1,
    )
    for sentence in _SENTENCE.findall(body):
        if _NO_STATEMENT.search(sentence) or sentence.lstrip()[:1] == "|":
            continue
        for pattern, code in _RULES:
            found = pattern.search(sentence)
            if not found or _NEGATED.search(sentence[: found.start()]) or not _beyond(code, found):
                continue
            code, device = code.format(**found.groupdict()), _subject(sentence)  # noqa: PLW2901
            if (code, device) not in told:
                told.add((code, device))
                yield code, device, sentence.strip(), {}
            break


def _beyond(code: str, found: re.Match[str]) -> bool:
    """Whether a percentage that is told is out of its range: worn from 100, spare below 10 (NVMe 2.0)."""
    if code == "nvme.worn":
        return (number(found["percent"]) or 0) >= 100
    return code != "nvme.spare" or (number(found["spare"]) or 0) < 10


def _subject(text: str) -> str:
    if address := pci_address(text):
        return address
    found = _SUBJECT.search(text)
    if not found:
        return ""
    return f"gpu:{found['index']}" if found["index"] else found["hca"]
