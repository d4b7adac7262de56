"""What happens to a node. Events are stored as JSON, so a field once written keeps its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from greenroom.model.jsonish import from_json, to_json
from greenroom.model.nodes import NodeView
from greenroom.model.results import Finding, Identity
from greenroom.model.words import Rung, Verdict
from greenroom.policy.state import Attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A reading of the scheduler."""

    view: NodeView
    adopting: bool = False
    """The first reading of all: what works now was working before us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """A report came home. ``run_id`` empty: nobody asked (a watch in service found something)."""

    run_id: str
    verdict: Verdict
    identity: Identity
    findings: tuple[Finding, ...] = ()
    history: tuple[Attempt, ...] = ()
    """Attempts known of this hardware elsewhere (it may have moved to this slot)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLost:
    """The check job could not be started, or is known to have ended without a result."""

    run_id: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairEnded:
    """A provider's last word on a repair."""

    action_id: str
    ok: bool
    detail: str = ""
    refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequested:
    """An operator wants the node checked."""

    profile: str
    user: str
    reason: str = ""
    skip_after: float = 0.0
    all_at_once: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorHold:
    """Keep it out until I say so."""

    user: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRelease:
    """I am done with it: check it, and admit it if it is fit. Attempts start from zero."""

    user: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorAdmit:
    """Put it into service, whatever the checks say."""

    user: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRetire:
    """It will not come back."""

    user: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutGranted:
    """The fleet limit lets it be taken out."""

    out: int
    """Nodes out by us, this one included."""
    limit: int


Event = (
    Seen
    | RunFinished
    | RunLost
    | RepairEnded
    | CheckRequested
    | OperatorHold
    | OperatorRelease
    | OperatorAdmit
    | OperatorRetire
    | OutGranted
)
KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        Seen,
        RunFinished,
        RunLost,
        RepairEnded,
        CheckRequested,
        OperatorHold,
        OperatorRelease,
        OperatorAdmit,
        OperatorRetire,
        OutGranted,
    )
}


def event_to_json(event: Event) -> dict[str, Any]:
    """``{"kind": name, ...fields}``."""
    return {"kind": type(event).__name__, **to_json(event)}


def event_from_json(data: dict[str, Any]) -> Event:
    """The event; raises model.jsonish.Unreadable naming the field."""
    event: Event = from_json(KINDS[data["kind"]], data)
    return event


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Start a check run on the node."""

    run_id: str
    profile: str
    since: float
    """Kernel log is read from here, Unix s: the last admission; 0 = since boot."""
    reset_at: float = 0.0
    """When the GPUs were last reset, Unix s: what a reset clears counts only from then on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """End the check job of a run whose result is no longer needed."""

    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRepair:
    """Carry out one rung."""

    action_id: str
    rung: Rung
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Requeue:
    """Requeue the jobs that still run on the node."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """Tell a person."""

    key: str
    text: str


Action = Launch | Cancel | StartRepair | Requeue | Alert
ACTIONS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (Launch, Cancel, StartRepair, Requeue, Alert)
}


def action_to_json(action: Action) -> dict[str, Any]:
    """``{"kind": name, ...fields}``."""
    return {"kind": type(action).__name__, **to_json(action)}


def action_from_json(data: dict[str, Any]) -> Action:
    """The action; raises model.jsonish.Unreadable naming the field."""
    action: Action = from_json(ACTIONS[data["kind"]], data)
    return action
