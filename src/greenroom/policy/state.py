"""Everything the policy knows of one node. Frozen: a step makes a new one."""

from __future__ import annotations

from dataclasses import dataclass

from greenroom.model.words import Phase, Rung, Standing, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A repair that was started."""

    rung: Rung
    at: float
    """Unix time, s."""
    fault: str
    hardware: str
    """Which machine (Identity.hardware): attempts follow it, not the host name."""
    action_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """The repair under way."""

    action_id: str
    rung: Rung
    fault: str
    deadline: float
    """Unix time, s; past it the repair has failed."""
    boot_before: float
    done: bool = False
    """The provider says done; the node is not back yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A check that is wanted of the node."""

    profile: str
    cause: str
    asked_by: str = ""
    skip_after: float = 0.0
    """Unix time, s: if jobs still run then, the request is dropped; 0 = wait for ever."""
    all_at_once: bool = False
    """The operator accepts that this goes beyond the fleet limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """What made the node fit for service, and which boot of which machine that was."""

    at: float
    by: str
    """``run`` or the person who decided it."""
    run_id: str
    boot: float
    boot_id: str
    hardware: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """One node. ``seq`` counts committed events and guards every write to the store."""

    node: str
    seq: int = 0
    phase: Phase = Phase.NEW
    since: float = 0.0
    reason: str = ""
    groups: tuple[str, ...] = ()
    """The groups of the configuration it belongs to."""
    partitions: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    profile: str = ""
    """The on-start profile of its group."""

    standing: Standing = Standing.UNKNOWN
    note: str = ""
    boot: float = 0.0
    boot_id: str = ""
    hardware: str = ""

    hold_id: str = ""
    held_at: float = 0.0
    """When the hold was first read back in this boot, Unix s."""
    operator_hold: str = ""
    """``user: reason`` of an operator's hold; blocks admission until released."""
    wanted: Wanted | None = None
    run_id: str = ""
    run_profile: str = ""
    run_deadline: float = 0.0
    open_runs: tuple[str, ...] = ()
    """Runs of this hold and boot whose result would still be believed."""
    undecided: int = 0
    """Runs in a row without a verdict."""

    fault: str = ""
    """What it is being treated for."""
    rung: Rung | None = None
    """The next repair, not started yet."""
    asked: bool = False
    """An admin asked for that repair through the scheduler: no fleet limit."""
    asked_note: str = ""
    """The last request that was not understood: reported once."""
    repair: Repair | None = None
    attempts: tuple[Attempt, ...] = ()
    refused: tuple[Rung, ...] = ()
    """Rungs refused or failed in this illness: not offered again."""

    verdict: Verdict | None = None
    verdict_run: str = ""
    verdict_at: float = 0.0
    admitted: Admitted | None = None
    seen_to_at: float = 0.0
    """Logs from before are done with, Unix s: since the last admission, or a person who has repaired it."""
    reset_at: float = 0.0
    """When our last reset of its GPUs began that came about, Unix s."""
    admitted_first_at: float = 0.0
    """First admission of all, Unix s; > 0 means it was in service once."""
    arrived_at: float = 0.0
    """First seen answering, Unix s."""

    leaving: str = ""
    """Why it should leave service; waits for the fleet limit."""
    out_by_us: bool = False
    """It was in service and we took it out: counts against the fleet limit."""
    left_at: float = 0.0
    """When we last took it out by our own decision, Unix s: counts against the limit per hour."""

    @property
    def served(self) -> bool:
        """It was in service once: its absence is felt, so the fleet limit covers it."""
        return self.admitted_first_at > 0

    @property
    def waits_for_grant(self) -> bool:
        """Something would be taken out of service, or repaired, once the fleet limit allows it."""
        if self.phase in (Phase.IN_SERVICE, Phase.NEW):
            return bool(self.leaving)
        waits = self.phase is Phase.RECOVERING and self.repair is None and not self.asked
        return waits and self.served and not self.out_by_us

    @property
    def by_our_decision(self) -> bool:
        """Leaving because a check said so (counts per hour), not because a person asked for a check."""
        return self.wanted is None
