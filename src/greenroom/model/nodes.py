"""A node as the scheduler shows it, and what may be written back to the scheduler."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from greenroom.model.words import Rung, Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """One node as one reading of the scheduler shows it. Reading is not deciding."""

    name: str
    standing: Standing
    note: str = ""
    """The scheduler's own words: flags and reason, one line."""
    jobs: tuple[str, ...] = ()
    """Ids of the jobs of others that hold resources on it now."""
    our_jobs: tuple[str, ...] = ()
    """Ids of our own check jobs on it."""
    boot: float = 0.0
    """Boot time as the scheduler knows it, Unix s; 0 = not known."""
    boot_jitter_s: float = 5.0
    """Two boot times closer than this are the same boot (the scheduler computes it from uptime)."""
    marked: bool = False
    """Our ownership marker is on the node although it is not held: somebody else undid our hold."""
    ours: bool = False
    """The hold on it is ours, also while it does not answer."""
    asked: Rung | None = None
    """A repair an admin asked for through the scheduler (Slurm: reason ``Action:Reboot``)."""
    asked_note: str = ""
    """Looks like such a request but is not understood: reported, not ignored."""
    groups: tuple[str, ...] = ()
    """Partitions (or node pools)."""
    features: tuple[str, ...] = ()
    gpus: int = 0
    """Configured GPUs."""


class Want(StrEnum):
    """What Greenroom wants the scheduler to do with a node."""

    LEAVE = "leave"
    HELD = "held"
    QUARANTINED = "quarantined"
    FREE = "free"


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One change wanted on the scheduler. Idempotent: writing it twice changes nothing more."""

    node: str
    want: Want
    hold_id: str
    """Whose hold it is: compared with what is there before anything is undone."""
    reason: str = ""
    adopt: bool = False
    """Take over somebody else's hold: its owner asked us for a repair through it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What became of a Write, after reading back."""

    write: Write
    ok: bool
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckJob:
    """A check run to be started on a quarantined node through the scheduler."""

    run_id: str
    node: str
    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    timeout_s: float = 600.0
