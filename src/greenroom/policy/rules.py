"""What the operator decides: budgets, limits, ladders, groups. Handed to every step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from greenroom.faults import Fault
from greenroom.model.nodes import NodeView
from greenroom.model.words import Rung

DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One rung of a ladder and how often it may be tried on one machine within the window."""

    rung: Rung
    times: int = 1


DEFAULT_LADDER = (Step(rung=Rung.REBOOT), Step(rung=Rung.REPLACE))
# A GPU that does not come back with a reboot has left the bus for good (NVIDIA's guidance for
# Xid 79: reboot; if it persists, service the board). A person decides what then becomes of the machine.
DEFAULT_LADDERS: Mapping[str, tuple[Step, ...]] = {"gpu.missing": (Step(rung=Rung.REBOOT),)}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRule:
    """Nodes that belong together: a partition, a feature or a host list."""

    name: str
    partition: str = ""
    feature: str = ""
    nodes: frozenset[str] = frozenset()
    size: int = 0
    """Wanted number of nodes; 0 = as many as there are."""
    minimum: int = 0
    profile: str = ""

    def has(self, view: NodeView) -> bool:
        """Whether the node belongs to it."""
        return bool(
            (self.partition and self.partition in view.groups)
            or (self.feature and self.feature in view.features)
            or view.name in self.nodes
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """All that ``step`` and the limits go by."""

    faults: Mapping[str, Fault] = field(default_factory=dict)
    groups: tuple[GroupRule, ...] = ()
    on_start_profile: str = "light"
    profile_time_s: Mapping[str, float] = field(
        default_factory=lambda: {"quick": 10.0, "light": 60.0, "full": 600.0, "burn-in": 14_400.0}
    )
    run_grace_s: float = 120.0
    """On top of the profile's budget: queueing, start, bringing the result home."""
    undecided_tries: int = 2
    ladders: Mapping[str, tuple[Step, ...]] = field(default_factory=lambda: dict(DEFAULT_LADDERS))
    ladder: tuple[Step, ...] = DEFAULT_LADDER
    offered: frozenset[Rung] = frozenset({Rung.REBOOT})
    """Rungs some provider carries out; others are passed over."""
    max_attempts: int = 3
    """Repairs of all kinds on one machine within the window; then a person."""
    attempt_window_s: float = 7 * DAY_S
    repair_time_s: Mapping[Rung, float] = field(
        default_factory=lambda: {Rung.REBOOT: 1800.0, Rung.REPLACE: 7200.0}
    )
    on_fail_in_service: str = "finish"
    """What becomes of running jobs on a node found unfit: ``finish`` or ``requeue``."""
    max_out: int = 0
    """Nodes out of service by us at once; 0 = max(1, max_out_share of the fleet)."""
    max_out_share: float = 0.10
    max_out_per_hour: int = 0
    """The same per hour; 0 = as at once."""
    settle_s: float = 10.0
    """A hold read back this long ago has surely been saved by the scheduler (slurmctld: < 1 s, seen)."""
    trust_running: bool = False
    """Nodes already working when first seen are admitted as they are, not checked in waves."""

    def groups_of(self, view: NodeView) -> tuple[str, ...]:
        """Names of the groups a node belongs to."""
        return tuple(group.name for group in self.groups if group.has(view))

    def profile_of(self, view: NodeView) -> str:
        """On-start profile of a node: its first group that names one, else the default."""
        named = [group.profile for group in self.groups if group.profile and group.has(view)]
        return named[0] if named else self.on_start_profile

    def stronger(self, one: str, other: str) -> str:
        """The profile with the larger budget: it covers the smaller."""
        return max(one, other, key=lambda name: self.profile_time_s.get(name, 0.0))
