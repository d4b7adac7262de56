"""Output of nvbandwidth, text or JSON (``-j``) -> a matrix of GB/s per test, and what failed.

A cell is judged against the others of its matrix: a copy at less than half of what is usual there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from greenroom.model.figures import median
from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, lines, load_json, mapping, number, sequence

KIND = "nvbandwidth"
_RUNNING = re.compile(r"^Running ([a-z][\w]{3,80})\.?\s*$")
_MATRIX_ROW = re.compile(r"^\s*(\d{1,4})((?:\s+(?:N/A|\d[\d.]{0,20}))+)\s*$")
_SUM = re.compile(r"^SUM (\w{3,80}) ([\d.]{1,20})")
_WAIVED = re.compile(r"^(?:Waived|WAIVED)\b|\bwaived\b", re.IGNORECASE)
_ERROR = re.compile(
    r"\[CUDA_ERROR_\w+\]|CUDA_ERROR_\w+|NVML_ERROR_\w+|^ERROR\b|\bverification failed", re.IGNORECASE
)
_SLOW = 0.5


@dataclass(slots=True)
class Test:
    """One test. Bandwidths in GB/s (latency tests: ns)."""

    name: str
    status: str = ""
    """``passed``, ``waived``, ``error``; empty: not said."""
    cells: dict[tuple[int, int], float] = field(default_factory=dict)
    """(row, column) -> value."""
    total: float | None = None
    messages: list[str] = field(default_factory=list)
    line: int = 0

    @property
    def latency(self) -> bool:
        """Whether less is better."""
        return "latency" in self.name


def recognise(text: str) -> float:
    """How sure it is nvbandwidth."""
    start = head(text)
    if "nvbandwidth Version" in start or re.search(r'^[ \t]*"nvbandwidth"\s*:', start, re.MULTILINE):
        return 0.97
    if '"nvbandwidth"' in start:
        return 0.95
    return 0.85 if re.search(r"^(?:SUM|Running) \w+_(?:ce|sm)\b", start, re.MULTILINE) else 0.0


def parse_output(text: str) -> list[Test]:
    """The tests in the order printed."""
    if '"nvbandwidth"' in text[:5000]:
        return _from_json(mapping(mapping(load_json(text)).get("nvbandwidth")))
    tests: list[Test] = []
    for count, line in lines(text):
        if found := _RUNNING.match(line):
            tests.append(Test(name=found[1], line=count))
        elif not tests:
            if _ERROR.search(line):
                tests.append(Test(name="", status="error", messages=[line.strip()], line=count))
        elif found := _MATRIX_ROW.match(line):
            cells = found[2].split()
            if not _is_header(line, tests[-1]):
                _fill(tests[-1], int(found[1]), cells)
        elif found := _SUM.match(line):
            tests[-1].total, tests[-1].status = number(found[2]), tests[-1].status or "passed"
        elif _WAIVED.search(line):
            tests[-1].status = "waived"
        elif _ERROR.search(line) and len(tests[-1].messages) < 20:
            tests[-1].status = "error"
            tests[-1].messages.append(line.strip())
    return tests


def _is_header(line: str, test: Test) -> bool:
    # Column numbers stand before the first row: whole numbers that count up from 0.
    words = line.split()
    return (
        not test.cells
        and all(word.isdecimal() for word in words)
        and words == [str(i) for i in range(len(words))]
    )


def _fill(test: Test, row: int, cells: list[str]) -> None:
    for column, cell in enumerate(cells[:256]):
        if cell != "N/A" and (value := number(cell)) is not None:
            test.cells[row, column] = value


def _from_json(data: dict[str, object]) -> list[Test]:
    tests = []
    for item in sequence(data.get("testcases"))[:500]:
        case = mapping(item)
        test = Test(name=str(case.get("name", ""))[:80], status=str(case.get("status", "")).strip().lower())
        matrix = sequence(case.get("bandwidth_matrix")) or sequence(case.get("matrix"))
        for row, cells in enumerate(matrix[:256]):
            _fill(test, row, [str(cell) for cell in sequence(cells)])
        test.total = number(case.get("sum"))
        test.messages = [str(case["error"])] if case.get("error") else []
        tests.append(test)
    if data.get("error"):
        tests.append(Test(name="", status="error", messages=[str(data["error"])]))
    return tests


def read(text: str) -> Reading:
    """Tests that failed, and copies far slower than their like."""
    book = Notebook(KIND)
    tests = parse_output(text)
    for test in tests:
        if test.status in {"error", "failed", "fail"} or test.messages:
            evidence = "; ".join(test.messages) or f"{test.name}: {test.status}"
            book.add("gpu.copy.failed", line=test.line, evidence=evidence, test=test.name)
        elif test.status == "waived" or not (test.cells or test.total):
            book.puzzled(f"not tested: {test.name}: {test.status or 'no result'}")
        else:
            _compare(book, test)
    if not tests:
        book.puzzled("no test is shown: " + text[:100])
    return book.reading()


def _compare(book: Notebook, test: Test) -> None:
    usual = median(test.cells.values()) if test.cells else 0.0
    slow = {
        place: value
        for place, value in test.cells.items()
        if len(test.cells) >= 4 and (value * _SLOW > usual if test.latency else value < usual * _SLOW)
    }
    for (row, column), value in slow.items():
        host = "host" in test.name
        device = f"gpu:{column}" if host else f"gpu:{row}-gpu:{column}"
        evidence = f"{test.name} ({row},{column}): {value}, usual {usual}"
        book.add(
            "gpu.copy.slow",
            device,
            line=test.line,
            evidence=evidence,
            test=test.name,
            value=value,
            usual=usual,
        )
    book.ok(max(1, len(test.cells)) - len(slow) if not slow else 0)
