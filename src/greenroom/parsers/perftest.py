"""Output of perftest (``ib_write_bw``, ``ib_read_lat`` ...), table or ``--out_json`` -> bandwidth or latency.

Versions before 2024 write JSON with bare keys and trailing commas: mended before it is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, leaves, lines, load_json, number

KIND = "perftest"
_TITLE = re.compile(r"\b(?:RDMA_|Send|Write|Read|Atomic).{0,30}(?:BW|Latency) Test", re.IGNORECASE)
_BW_HEADER = re.compile(r"^\s*#bytes\s+#iterations\s+BW peak\[(?P<unit>[^\]]+)\]\s+BW average", re.IGNORECASE)
_LAT_HEADER = re.compile(r"^\s*#bytes\s+#iterations\s+t_(?:min|avg)\[usec\]", re.IGNORECASE)
_ROW = re.compile(r"^\s*(\d{1,12})\s+(\d{1,12})\s+(-?[\d.]{1,20})((?:\s+-?[\d.]{1,20}){0,10})\s*$")
_DEVICE = re.compile(r"(?:^|\s)Device\s*:\s*(\S{1,64})")
_ERROR = re.compile(r"Failed status (\d{1,3})|Completion with error|completion error", re.IGNORECASE)
_UNABLE = re.compile(
    r"Unable to (?:find|open|init)|Did not detect devices|Couldn't (?:connect|listen|allocate|read|get)|"
    r"Failed to (?:create|modify|connect|exchange|register)|No IB devices|not supported",
    re.IGNORECASE,
)
_TO_GBIT = {"gb/sec": 1.0, "gbit/sec": 1.0, "mb/sec": 8 * 1.048576e-3, "mib/sec": 8 * 1.048576e-3}
_JSON_BW = re.compile(r"bw[_ ]?average", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One message size."""

    size_bytes: int
    gbit_per_s: float | None = None
    latency_us: float | None = None
    line: int = 0
    text: str = ""


@dataclass(slots=True)
class Outcome:
    """One run."""

    device: str = ""
    rows: list[Measured] = field(default_factory=list)
    errors: list[tuple[int, str]] = field(default_factory=list)
    unable: list[str] = field(default_factory=list)


def recognise(text: str) -> float:
    """How sure it is perftest."""
    start = head(text)
    if re.search(r"#bytes\s+#iterations", start) or _TITLE.search(start):
        return 0.95
    if re.search(r"\bbw_average\b", start, re.IGNORECASE) and ("{" in start):
        return 0.95
    if re.search(r"Failed status \d+: wr_id", start) or "Infiniband/RoCE device" in start:
        return 0.9
    return 0.0


def parse_output(text: str) -> Outcome:
    """The run, from its table or its JSON."""
    outcome = Outcome()
    unit, latency = "", False
    for count, line in lines(text):
        if found := _DEVICE.search(line):
            outcome.device = found[1]
        elif found := _BW_HEADER.match(line):
            unit, latency = found["unit"].lower(), False
        elif _LAT_HEADER.match(line):
            unit, latency = "usec", True
        elif unit and (found := _ROW.match(line)):
            values = [
                float(word) for word in (found[3] + found[4]).split() if word.count(".") <= 1 and word != "."
            ]
            if len(values) > 1 and len(outcome.rows) < 10_000:
                typical = values[2] if latency and len(values) > 2 else values[1]
                outcome.rows.append(
                    Measured(
                        size_bytes=int(found[1]),
                        gbit_per_s=None if latency else typical * _TO_GBIT.get(unit, 1.0),
                        latency_us=typical if latency else None,
                        line=count,
                        text=line.strip(),
                    )
                )
        elif _ERROR.search(line) and len(outcome.errors) < 100:
            outcome.errors.append((count, line.strip()))
        elif _UNABLE.search(line) and len(outcome.unable) < 20:
            outcome.unable.append(line.strip())
    if not outcome.rows and "{" in text:
        _from_json(outcome, text)
    return outcome


def _from_json(outcome: Outcome, text: str) -> None:
    size = 0
    for path, value in leaves(load_json(text, mend=True), most=10_000):
        name = path[-1] if path else ""
        if name.lower() in {"device", "dev"}:
            outcome.device = str(value)[:64]
        elif name.lower() in {"msgsize", "msg_size", "bytes"}:
            size = int(number(value) or 0)
        elif _JSON_BW.search(name) and (read_value := number(value)) is not None:
            mega = re.search(r"MB|MiB", name)
            factor = _TO_GBIT["mb/sec"] if mega else 1.0
            outcome.rows.append(
                Measured(size_bytes=size, gbit_per_s=read_value * factor, text=f"{name}: {value}")
            )
        elif (
            re.fullmatch(r"t_(?:typical|avg|average)\w*", name) and (read_value := number(value)) is not None
        ):
            outcome.rows.append(Measured(size_bytes=size, latency_us=read_value, text=f"{name}: {value}"))


def read(text: str) -> Reading:
    """Failed transfers and nonsense values; how fast is fast enough is for a check to say."""
    book = Notebook(KIND)
    outcome = parse_output(text)
    for line, evidence in outcome.errors:
        found = _ERROR.search(evidence)
        status = int(found[1]) if found and found[1] else None
        book.add("perftest.completion", outcome.device, line=line, evidence=evidence, status=status)
    for row in outcome.rows:
        value = row.gbit_per_s if row.gbit_per_s is not None else row.latency_us
        if value is None or value <= 0:
            book.add("perftest.zero", outcome.device, line=row.line, evidence=row.text, size=row.size_bytes)
        else:
            book.ok()
    for line_text in outcome.unable:
        book.puzzled("the test could not run: " + line_text)
    if not outcome.rows and not outcome.errors and not outcome.unable:
        book.puzzled("no result of a run is shown: " + text[:100])
    return book.reading()
