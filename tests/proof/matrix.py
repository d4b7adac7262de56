"""Fault by fault: which check finds it, on which machine; in which texts `greenroom diagnose` reads it.

``python tests/proof/matrix.py`` writes the page ``docs/matrix.md``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(TESTS / place) for place in ("parsers", "unit/checks", "lab")]

import broken  # noqa: E402
import made  # noqa: E402
import pynvml  # noqa: E402
import shapes  # noqa: E402
import stand_in  # noqa: E402
import test_kernel_faults  # noqa: E402
import tool_texts  # noqa: E402
from cases import all_cases  # noqa: E402
from healthy import ask, expect, gpu, gpus  # noqa: E402

from greenroom.faults import load  # noqa: E402
from greenroom.faults.docs import ABOUT  # noqa: E402
from greenroom.faults.families import FAMILIES, read  # noqa: E402
from greenroom.parsers.driver_version import find_branch  # noqa: E402
from greenroom.parsers.registry import read_all  # noqa: E402
from greenroom.policy.incidents import fold  # noqa: E402
from greenroom.probes import nvml  # noqa: E402
from greenroom.probes.host import ProbeUnavailable  # noqa: E402

PAGE = TESTS.parent / "docs/matrix.md"


def rows() -> dict[str, str]:
    """Every code of the catalogue -> its family."""
    return {code: family for family in FAMILIES for code in read(family)}


def row_of(code: str, known: Iterable[str]) -> str:
    """The row that a code falls under; empty: it has none."""
    while code and code not in known:
        code = code.rpartition(".")[0]
    return code


def of_checks() -> dict[str, dict[str, list[str]]]:
    """Row -> check -> machines on which it finds that fault."""
    known = rows()
    found: dict[str, dict[str, list[str]]] = {}
    for case in all_cases():
        for code in case.finds:
            found.setdefault(row_of(code, known), {}).setdefault(case.check, []).append(case.about)
    return found


def of_texts() -> dict[str, set[str]]:
    """Row -> kinds of text in which it is read."""
    known = rows()
    found: dict[str, set[str]] = {}
    for text in _texts():
        readings = read_all(text)
        for one in (one for reading in readings for one in reading.sightings):
            found.setdefault(row_of(one.code, known), set())
        for reading in readings:
            told = fold(list(reading.sightings), load(), driver_branch=find_branch(text))
            for code in {one.code for one in (*reading.sightings, *told)}:
                found.setdefault(row_of(code, known), set()).add(reading.kind)
    return found


def _texts() -> Iterator[str]:
    yield from (row[0] for row in shapes.TROUBLE)
    yield from (row[1] for row in tool_texts.BAD)
    yield from test_kernel_faults.LINES
    yield from made.texts()


def of_nvml() -> dict[str, str]:
    """Return code -> what a check of GPUs makes of it, when a reading of one GPU comes back with it."""
    made_of = {}
    known = expect(gpu__must_report=[])
    for code in read("nvml"):
        word = nvml.word(pynvml.NVMLError(int(code.rpartition(".")[2])))
        errors = {**gpu().errors, "remap_pending": word}
        facts = gpus(remap_pending=None, errors=errors)
        try:
            answers = [
                ask(check, facts=facts, expected=known)
                for check in ("gpu_count.all_answer", "gpu_memory.row_remap")
            ]
        except ProbeUnavailable as error:
            made_of[code] = "the check is unable, and says why" if word in str(error) else "?"
        else:
            found = [one.code for answer in answers for one in answer.findings]
            made_of[code] = f"found: `{found[0]}`" if found else "no such reading"
    return made_of


def of_the_lab() -> dict[str, list[str]]:
    """Row -> faults of the stand-in driver, or of a real machine, with which a whole run finds it."""
    known = rows()
    found: dict[str, list[str]] = {}
    for fault, (_, codes) in stand_in.VERDICTS.items():
        for code in codes.split():
            found.setdefault(row_of(code, known), []).append(f"stand-in driver, {fault}")
    for fault, how in broken.FAULTS.items():
        found.setdefault(row_of(how.code, known), []).append(fault)
    return found


def missing() -> list[str]:
    """Codes that nothing shows. A row that has rows below it speaks for those that nobody wrote down."""
    shown = {*of_checks(), *of_texts(), *of_nvml()}
    return [row for row in rows() if not any(f"{code}.".startswith(f"{row}.") for code in shown)]


def page() -> str:
    """The page, as Markdown."""
    checks, texts, answers, lab = of_checks(), of_texts(), of_nvml(), of_the_lab()
    lines = [
        "# Which fault is found by what\n",
        "Made by `python tests/proof/matrix.py`; do not edit. Every cell is a test: a *check* is shown a machine",
        "that has just this fault (what is so about it stands beside it) and must find it; a *text* is read by",
        "`greenroom diagnose`; in a *whole run* `greenroom check` finds it on a stand-in driver or a machine that",
        "was really broken so. The build is red for a fault that has neither a check nor a text, for a check",
        "without a machine that passes, and for one that claims a fault which no machine shows.\n",
    ]
    for family in FAMILIES:
        lines += [f"## {ABOUT[family]}\n", "| fault | checks | texts | whole runs |", "|---|---|---|---|"]
        alike: dict[tuple[str, ...], list[str]] = {}
        for code in read(family):
            found = "; ".join(_with_machines(*one, code) for one in sorted(checks.get(code, {}).items()))
            told = ", ".join(sorted(texts.get(code, ())))
            cells = (found or answers.get(code, ""), told, "; ".join(lab.get(code, ())))
            alike.setdefault(cells, []).append(code)
        lines += [f"| {_codes(codes)} | {' | '.join(cells)} |" for cells, codes in alike.items()]
        lines.append("")
    return "\n".join(lines)


def _with_machines(check: str, machines: list[str], code: str) -> str:
    number = code.rpartition(".")[2]
    if number.isdigit():  # one row for all numbers of a family
        machines = [machine.replace(number, "n") for machine in machines]
    more = f" and {len(machines) - 2} more" if len(machines) > 2 else ""
    return f"`{check}` ({', '.join(machines[:2])}{more})"


def _codes(codes: list[str]) -> str:
    if len(codes) <= 4:
        return ", ".join(f"`{code}`" for code in codes)
    return f"`{codes[0]}` to `{codes[-1]}` ({len(codes)})"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{len(rows())} faults, {len(missing())} of them shown by nothing")
