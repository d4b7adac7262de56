"""Output of nccl-tests and rccl-tests (``all_reduce_perf`` and its kin) -> rows, errors, bandwidth.

Old versions print 12 columns with ``error`` (a magnitude), new ones 13 with ``#wrong`` (a count, or N/A).
``srun --label`` puts ``[0]`` or ``0:`` before lines and, since fields are flushed apart, also into them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import MAX_LINE_CHARS, head, integer, lines, number

KIND = "nccl-tests"
_LABEL = re.compile(r"\[\d{1,5}\]")
_PREFIX = re.compile(r"^\s*(?:\d{1,5}: |\[\d{1,5}(?:,\d{1,5})?\](?:<\w+>)?:? ?)")
_TYPE = re.compile(r"^(?:u?int\d{1,2}|float\d{0,2}|half|double|bfloat16|fp8\w*|f8e\w*|float8\w*)$")
_BOUNDS = re.compile(r"#\s*Out of bounds values\s*:\s*(\d{1,15})\s*(OK|FAILED)?", re.IGNORECASE)
_AVERAGE = re.compile(r"#\s*Avg bus bandwidth\s*:\s*(-?[\d.]{1,20}(?:e[+-]?\d+)?|-?nan|inf)", re.IGNORECASE)
_RANK = re.compile(r"#\s+Rank\s+(\d{1,6})\b")
_FAILURE = re.compile(r"Test (?:NCCL|CUDA|RCCL|HIP) failure|Test (?:time ?out|timed out)", re.IGNORECASE)
_DROP = 0.5
_LARGE_BYTES = 1 << 20
_BIG_ERROR = 0.1
"""Old versions print the largest deviation; sums in half precision stay far below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One message size. Bandwidths in GB/s; the better of out-of-place and in-place."""

    size_bytes: int
    busbw: float
    wrong: float | None
    """Wrong values (new), or None (N/A, not checked, or an old version)."""
    error: float | None = None
    """Largest deviation (old versions)."""
    line: int = 0
    text: str = ""


@dataclass(slots=True)
class Outcome:
    """One run."""

    rows: list[Row] = field(default_factory=list)
    ranks: int = 0
    """0: not shown."""
    out_of_bounds: int | None = None
    failed_bounds: bool = False
    average: float | None = None
    failures: list[tuple[int, str]] = field(default_factory=list)
    bounds_line: int = 0


def recognise(text: str) -> float:
    """How sure it is such an output."""
    start = head(text)
    if re.search(r"#\s+(?:Avg bus bandwidth|Out of bounds values)", start) or "# nThread " in start:
        return 0.95
    if re.search(r"#\s+size\s+count\s+type", start):
        return 0.95
    for _, line in list(lines(start))[:50]:
        if _row(line, 0):
            return 0.85
    return 0.7 if re.search(r"Test (?:NCCL|CUDA) failure", start) else 0.0


def parse_output(text: str) -> Outcome:
    """All rows and the footer. A row that is not whole is not a row."""
    outcome = Outcome()
    ranks: set[str] = set()
    for count, line in lines(text):
        if row := _row(line, count):
            if len(outcome.rows) < 10_000:
                outcome.rows.append(row)
        elif found := _BOUNDS.search(line):
            outcome.out_of_bounds = integer(found[1])
            outcome.failed_bounds = (found[2] or "").upper() == "FAILED"
            outcome.bounds_line = count
        elif found := _AVERAGE.search(line):
            outcome.average = number(found[1])
        elif found := _RANK.search(line):
            if len(ranks) < 100_000:
                ranks.add(found[1])
        elif _FAILURE.search(line) and len(outcome.failures) < 100:
            outcome.failures.append((count, line))
    outcome.ranks = len(ranks)
    return outcome


def _row(line: str, count: int) -> Row | None:
    words = _LABEL.sub(" ", _PREFIX.sub("", line[:MAX_LINE_CHARS])).split()
    if not 8 <= len(words) <= 20 or not words[0].isdecimal() or not words[1].isdecimal():
        return None
    if not _TYPE.match(words[2]) or len(words[0]) > 18:
        return None
    # after the type: redop, root or not (a whole number), then time algbw busbw wrong, twice
    rest = words[3:]
    while rest and not (_is_number(rest[0]) and len(rest) in {4, 8}):
        rest = rest[1:]
    if len(rest) not in {4, 8}:
        return None
    groups = [rest[index : index + 4] for index in range(0, len(rest), 4)]
    if not all(_is_number(word) for group in groups for word in group[:3]):
        return None
    wrongs = [group[3] for group in groups]
    magnitude = any("e" in word.lower() or "." in word for word in wrongs if word != "N/A")
    values = [value for word in wrongs if (value := number(word)) is not None]
    worst = max(values) if values else None
    return Row(
        size_bytes=int(words[0]),
        busbw=max(number(group[2]) or 0.0 for group in groups),
        wrong=None if magnitude else worst,
        error=worst if magnitude else None,
        line=count,
        text=line.strip(),
    )


def _is_number(word: str) -> bool:
    return re.fullmatch(r"-?\d[\d.]{0,20}(?:e[+-]?\d{1,3})?", word) is not None


def find_drop(rows: Sequence[Row]) -> tuple[Row, Row] | None:
    """Two rows: the best of smaller size, and a larger one with less than half of its bandwidth."""
    best: Row | None = None
    for row in sorted(rows, key=lambda row: row.size_bytes):
        if row.size_bytes < _LARGE_BYTES:
            continue
        if best and row.size_bytes > best.size_bytes and row.busbw < _DROP * best.busbw:
            return best, row
        if best is None or row.busbw > best.busbw:
            best = row
    return None


def read(text: str) -> Reading:
    """Wrong values, failures, and bandwidth that falls with size."""
    book = Notebook(KIND)
    outcome = parse_output(text)
    note(book, outcome)
    if outcome.rows and outcome.average is None and "#" in text:
        book.puzzled("the run has no 'Avg bus bandwidth': it did not end, or the text is cut")
    if not outcome.rows and not outcome.failures and outcome.out_of_bounds is None:
        book.puzzled("no result of a run is shown: " + text[:100])
    return book.reading()


def note(book: Notebook, outcome: Outcome) -> None:
    """Write a run into the notebook."""
    bad = [row for row in outcome.rows if (row.wrong or 0) > 0 or (row.error or 0) >= _BIG_ERROR]
    for row in bad[:100]:
        book.add(
            "nccl.wrong",
            line=row.line,
            evidence=row.text,
            wrong=row.wrong,
            error=row.error,
            size=row.size_bytes,
        )
    if not bad and (outcome.failed_bounds or (outcome.out_of_bounds or 0) > 0):
        evidence = f"Out of bounds values : {outcome.out_of_bounds} FAILED"
        book.add("nccl.wrong", line=outcome.bounds_line, evidence=evidence, wrong=outcome.out_of_bounds)
    for line, text in outcome.failures:
        book.add("nccl.failed", line=line, evidence=text)
    if drop := find_drop(outcome.rows):
        best, worst = drop
        book.add(
            "nccl.bandwidth.drop",
            line=worst.line,
            evidence=worst.text,
            busbw_gbytes_per_s=worst.busbw,
            before_gbytes_per_s=best.busbw,
            size=worst.size_bytes,
        )
    # With one rank the formula of the bus bandwidth gives 0: not a failure, and not a measurement.
    if outcome.average == 0 and outcome.ranks > 1:
        book.puzzled(
            "the average bus bandwidth is 0 with more than one rank: each process may have run alone"
        )
    book.ok(sum(1 for row in outcome.rows if row not in bad))
