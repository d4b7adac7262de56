"""The fleet limit: a pure filter over what wants to leave service. A fleet is never drained by a bug."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from greenroom.model.words import Phase
from greenroom.policy.rules import Rules
from greenroom.policy.state import NodeState

HOUR_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """Who may leave now, who must wait, and the figures behind it."""

    granted: tuple[str, ...]
    waiting: tuple[str, ...]
    out: int
    """Nodes out by us before the grants."""
    limit: int
    in_hour: int
    per_hour: int


def limit_of(fleet: int, rules: Rules) -> tuple[int, int]:
    """(at once, per hour) for a fleet of this many nodes."""
    at_once = rules.max_out or max(1, int(fleet * rules.max_out_share))
    return at_once, rules.max_out_per_hour or at_once


def grant(states: Iterable[NodeState], rules: Rules, now: float) -> Grants:
    """Let as many leave as the limits allow, longest waiting first.

    Counted as out: nodes that were in service and that we took out. A node that never served, that
    rebooted or failed by itself, or that an operator holds, takes nothing from the limit. A check an
    operator asked for counts at once (it goes in waves), not per hour.
    """
    nodes = [state for state in states if state.phase is not Phase.RETIRED]
    at_once, per_hour = limit_of(len(nodes), rules)
    out = sum(state.out_by_us for state in nodes)
    in_hour = sum(state.left_at > 0 and now - state.left_at < HOUR_S for state in nodes)
    granted: list[str] = []
    waiting: list[str] = []
    start = out, in_hour
    for state in sorted(
        (state for state in nodes if state.waits_for_grant), key=lambda state: (state.since, state.node)
    ):
        free = state.wanted is not None and state.wanted.all_at_once
        fits = out < at_once and (in_hour < per_hour or not state.by_our_decision)
        if not (free or fits):
            waiting.append(state.node)
            continue
        granted.append(state.node)
        out += 1
        in_hour += state.by_our_decision
    return Grants(
        granted=tuple(granted),
        waiting=tuple(waiting),
        out=start[0],
        limit=at_once,
        in_hour=start[1],
        per_hour=per_hour,
    )
