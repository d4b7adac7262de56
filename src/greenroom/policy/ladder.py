"""Which remedy comes next, and when to stop and call a person."""

from __future__ import annotations

from dataclasses import dataclass

from greenroom.model.words import Rung
from greenroom.policy.diagnose import GRAVITY, Diagnosis
from greenroom.policy.rules import Rules, Step
from greenroom.policy.state import Attempt, NodeState


@dataclass(frozen=True, slots=True)
class Next:
    """The rung to take and, for a person, why it came to that."""

    rung: Rung
    why: str


def ladder_for(code: str, rules: Rules) -> tuple[Step, ...]:
    """The ladder of a fault: the longest matching prefix (``gpu`` covers ``gpu.ecc``), else the default."""
    parts = code.split(".")
    for size in range(len(parts), 0, -1):
        if found := rules.ladders.get(".".join(parts[:size])):
            return found
    return rules.ladder


def next_rung(found: Diagnosis, state: NodeState, rules: Rules, now: float) -> Next:
    """The first rung, not lighter than the fault's first remedy, that has a try left.

    Tries are counted by hardware within the window. Replacing is counted by slot instead (the new
    machine has a clean record): a slot whose machines keep failing ends with a person, too.
    """
    recent = [attempt for attempt in state.attempts if now - attempt.at < rules.attempt_window_s]
    mine = [attempt for attempt in recent if not state.hardware or attempt.hardware == state.hardware]
    if len(mine) >= rules.max_attempts:
        return Next(Rung.PERSON, f"{found.text}; {_told(mine)} did not help (limit {rules.max_attempts})")
    for step in ladder_for(found.code, rules):
        tried = [one for one in (recent if step.rung is Rung.REPLACE else mine) if one.rung is step.rung]
        usable = step.rung in rules.offered and step.rung not in state.refused
        heavy_enough = GRAVITY[step.rung] >= GRAVITY[found.first]
        if usable and heavy_enough and len(tried) < step.times:
            return Next(step.rung, found.text)
    past = f"; {_told(recent)} did not help" if recent else "; no remedy of ours applies"
    return Next(Rung.PERSON, found.text + past)


def _told(attempts: list[Attempt]) -> str:
    return ", then ".join(attempt.rung.value for attempt in attempts) or "nothing"
