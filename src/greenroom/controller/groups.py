"""Progress of the groups: pure sums over node states."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from greenroom.model.words import Phase
from greenroom.policy.rules import GroupRule
from greenroom.policy.state import NodeState


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupProgress:
    """How far a growing group is."""

    name: str
    wanted: int
    minimum: int
    arrived: int
    """Seen answering, at least once."""
    held: int
    checking: int
    admitted: int
    recovering: int
    with_person: int
    time_to_admit_s: float
    """Median over the members admitted so far, from arrival to first admission; 0 = none yet."""
    members: tuple[str, ...] = ()

    @property
    def enough(self) -> bool:
        """The minimum is there."""
        return self.admitted >= self.minimum > 0


def progress(groups: Iterable[GroupRule], states: Iterable[NodeState]) -> list[GroupProgress]:
    """One line a group, in the order of the configuration."""
    nodes = list(states)
    return [_progress(group, [state for state in nodes if group.name in state.groups]) for group in groups]


def _progress(group: GroupRule, members: list[NodeState]) -> GroupProgress:
    def count(*phases: Phase) -> int:
        return sum(state.phase in phases for state in members)

    times = sorted(
        state.admitted_first_at - state.arrived_at
        for state in members
        if state.admitted_first_at and state.arrived_at
    )
    return GroupProgress(
        name=group.name,
        wanted=group.size or len(members),
        minimum=group.minimum,
        arrived=sum(state.arrived_at > 0 for state in members),
        held=count(Phase.HELD, Phase.NEW),
        checking=count(Phase.CHECKING),
        admitted=count(Phase.IN_SERVICE),
        recovering=count(Phase.RECOVERING),
        with_person=count(Phase.WITH_PERSON),
        time_to_admit_s=times[len(times) // 2] if times else 0.0,
        members=tuple(state.node for state in members),
    )
