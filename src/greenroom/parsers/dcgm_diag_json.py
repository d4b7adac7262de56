"""``dcgmi diag -j`` of DCGM 2, 3 and 4 -> the result of every test on every entity.

The versions differ in the top key, in how the entity is named (``gpu_ids`` "0,1", ``gpu_id`` "0" or 0,
``entity_id`` 0) and in the errors (one string; a list whose entries say ``warning``, or, a slip of 3.3,
``warnings``). A skipped test was not passed, and a test may say "Pass" and carry an error: both count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from greenroom.model.sightings import Reading
from greenroom.parsers.dcgm_words import find_gpu, find_phrase
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, integer, load_json, mapping, sequence, slug

KIND = "dcgmi-diag-json"
_TOP = ("DCGM Diagnostic", "DCGM GPU Diagnostic", "DCGM Multi-Node Diagnostic")
_BAD = frozenset({"fail", "failed", "warn", "warning", "error"})
_PASSED = frozenset({"pass", "passed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """One error or warning of a test."""

    message: str
    error_id: int | None = None
    severity: int | None = None
    """As DCGM rates it; its table changed between versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagResult:
    """One test on one entity."""

    test: str
    entity: str
    """``gpu:0``, ``cpu:1``; empty: the whole machine."""
    status: str
    """Lower case; empty: not run."""
    errors: tuple[Error, ...] = ()
    info: str = ""

    @property
    def passed(self) -> bool:
        """Ran, and found nothing."""
        return self.status in _PASSED and not self.errors


def recognise(text: str) -> float:
    """How sure it is this JSON."""
    start = head(text)
    if any(f'"{top}"' in start for top in _TOP):
        return 0.98
    return 0.5 if '"test_categories"' in start else 0.0


def parse_diag(text: str) -> tuple[list[DiagResult], list[str]]:
    """Results, and what kept it from running (runtime errors)."""
    results: list[DiagResult] = []
    troubles: list[str] = []
    for body in _bodies(load_json(text)):
        trouble = body.get("runtime_error") or body.get("mpi_error") or body.get("global_errors")
        if trouble:
            troubles.append(str(trouble)[:500])
        for category in sequence(body.get("test_categories")):
            for test in sequence(mapping(category).get("tests")):
                results.extend(_results(mapping(test)))
    return results, troubles


def _bodies(data: object) -> Iterator[dict[str, object]]:
    top = mapping(data)
    runs = sequence(top.get("iterations")) or [top]
    for run in runs[:1000]:
        # a run may stand below its top key or, within iterations, hold it
        outer = mapping(run)
        named = [mapping(outer[key]) for key in _TOP if key in outer]
        for body in named or [outer]:
            yield body
            for wrapped in sequence(body.get("iterations"))[:1000]:
                inner = mapping(wrapped)
                yield from [mapping(inner[key]) for key in _TOP if key in inner] or [inner]


def _results(test: dict[str, object]) -> Iterator[DiagResult]:
    name = str(test.get("name", "")).strip()
    for item in sequence(test.get("results")):
        result = mapping(item)
        status = str(result.get("status", "")).strip().lower()
        errors = (
            *_errors(result.get("warnings")),
            *_errors(result.get("errors")),
            *_errors(result.get("warning")),
        )
        info = str(result.get("info", ""))[:300]
        for entity in _entities(result):
            yield DiagResult(test=name, entity=entity, status=status, errors=errors, info=info)
    summary = mapping(test.get("test_summary"))
    errors = (*_errors(summary.get("warnings")), *_errors(summary.get("errors")))
    status = str(summary.get("status", "")).strip().lower()
    if errors or (status in _BAD and not test.get("results")):
        yield DiagResult(test=name, entity="", status=status, errors=errors)


def _entities(result: dict[str, object]) -> list[str]:
    if "entity_id" in result:
        return [f"{slug(str(result.get('entity_group', 'gpu')))}:{str(result['entity_id'])[:20]}"]
    ids = str(result.get("gpu_id", result.get("gpu_ids", "")))
    return [f"gpu:{word.strip()}" for word in ids.split(",")[:64] if word.strip()] or [""]


def _errors(value: object) -> Iterator[Error]:
    if isinstance(value, str):
        if value.strip():
            yield Error(message=value.strip())
        return
    for item in sequence(value)[:200]:
        if isinstance(item, str):
            yield Error(message=item)
            continue
        entry = mapping(item)
        message = entry.get("warning", entry.get("warnings", entry.get("error", entry.get("message", ""))))
        if entry:
            yield Error(
                message=str(message),
                error_id=integer(entry.get("error_id")),
                severity=integer(entry.get("error_severity")),
            )


def read(text: str) -> Reading:
    """What each test says of each entity."""
    book = Notebook(KIND)
    results, troubles = parse_diag(text)
    for result in results:
        _note(book, result)
    for trouble in troubles:
        book.puzzled(f"the diagnostic could not run: {trouble}")
    if not results and not troubles:
        book.puzzled("no test result in the JSON (or it is cut): " + text[:100])
    return book.reading()


def _note(book: Notebook, result: DiagResult) -> None:
    where = f"{result.test} on {result.entity or 'the machine'}"
    for error in result.errors:
        code = f"dcgm.{error.error_id}" if error.error_id else find_phrase(error.message)
        book.add(
            code or f"dcgm.test.{slug(result.test)}",
            result.entity or find_gpu(error.message),
            evidence=f"{result.test}: {result.status}: {error.message}",
            test=result.test,
            status=result.status,
            dcgm_severity=error.severity,
        )
    if not result.errors and result.status in _BAD:
        code = f"dcgm.test.{slug(result.test)}"
        evidence = f"{where}: {result.status} {result.info}"
        book.add(code, result.entity, evidence=evidence, test=result.test, status=result.status)
    elif result.passed:
        book.ok()
    elif result.status not in _BAD | _PASSED:
        words = re.sub(r"\s+", " ", result.info)
        book.puzzled(f"not tested: {where}: {result.status or 'not run'} {words}")
