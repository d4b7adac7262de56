"""What the ranks of one test say together: pass, fail, or could not be made, and by whose fault. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from greenroom.model.words import Outcome
from greenroom.workloads.answers import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a pair must reach."""

    busbw_gb_per_s: float = 0.0
    """Of the median operation, GB/s (nccl-tests' bus bandwidth); 0: no limit."""
    stalled_s: float = 0.5
    """So long may operations that hang for a moment take together, s."""
    retransmits: int = -1
    """TCP segments sent again on one node; -1: no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """The outcome of one test."""

    outcome: Outcome
    why: str = ""
    culprits: tuple[str, ...] = ()
    measured: Mapping[str, object]


def judge_meeting(answers: Mapping[str, Answer], limits: Limits) -> Met:
    """Node -> its rank's answer.

    A process that did not start, crashed or had to be ended says nothing of the network: unable, with its
    node. Ranks that ran and did not find each other, or lost each other, do: that is a failure.
    """
    measured = _measured(answers)
    absent = {node: answer.unable or "no result" for node, answer in answers.items() if answer.result is None}
    if absent:
        why = "; ".join(f"{node}: {reason}" for node, reason in absent.items())
        return Met(outcome=Outcome.UNABLE, why=why, culprits=tuple(absent), measured=measured)
    return (
        Met(outcome=Outcome.FAIL, why=why, measured=measured)
        if (why := _fault(answers, limits))
        else Met(outcome=Outcome.PASS, measured=measured)
    )


def _fault(answers: Mapping[str, Answer], limits: Limits) -> str:
    results = {node: answer.result or {} for node, answer in answers.items()}
    for node, result in results.items():
        if not result.get("reached"):
            return f"no connection, as {node} says: {result.get('why')}"
    for node, result in results.items():
        for row in _rows(result):
            if row["wrong"]:
                bad = f"{row['wrong']} numbers of {row['operation']}; {row['first_wrong']}"
                return f"wrong data on {node}: {bad}"
    for node, result in results.items():
        if broke := result.get("broke"):
            return f"the connection broke, as {node} says: {broke}"
    for node, result in results.items():
        if changes := result.get("link_changes"):
            return f"a link of {node} went down or up: {changes}"
        stalled = sum(float(str(row["stalled_s"])) for row in _rows(result))
        if stalled > limits.stalled_s:
            return f"operations on {node} stood still for {stalled:.1f} s (limit {limits.stalled_s:g})"
        again = int(str(result.get("retransmits", 0)))
        if 0 <= limits.retransmits < again:
            return f"{node} sent {again} segments again (limit {limits.retransmits})"
    slowest = _slowest(answers)
    if slowest is not None and slowest < limits.busbw_gb_per_s:
        return f"{slowest:.3g} GB/s, expected {limits.busbw_gb_per_s:g}"
    return ""


def _measured(answers: Mapping[str, Answer]) -> dict[str, object]:
    slowest = _slowest(answers)
    said = {node: answer.result or answer.unable for node, answer in answers.items()}
    told: dict[str, object] = {"answers": said}
    return told | ({"busbw_gb_per_s": slowest} if slowest is not None else {})


def _slowest(answers: Mapping[str, Answer]) -> float | None:
    """Of the largest messages: what small ones reach is latency."""
    rows = [row for answer in answers.values() for row in _rows(answer.result or {})]
    largest = max((int(str(row["bytes"])) for row in rows), default=0)
    return min(
        (float(str(row["busbw_median_gb_per_s"])) for row in rows if row["bytes"] == largest), default=None
    )


def _rows(result: Mapping[str, object]) -> list[dict[str, object]]:
    rows = result.get("rows")
    return rows if isinstance(rows, list) else []
