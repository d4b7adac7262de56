"""What Slurm says of nodes, jobs and reservations -> NodeView. How it is read is another matter.

A drain is ours if a hold id that is known to be ours - by our store or by our marker on the node -
still stands in its Reason. Slurm has no compare-and-set and a second drain replaces the first
Reason, so a Reason that lost our id was written by somebody else, whoever holds the marker.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from greenroom.model.nodes import NodeView
from greenroom.model.words import Rung, Standing

PREFIX = "greenroom-"
"""Begins the name of our reservations (``greenroom-NODE``) and of our jobs (``greenroom-check-RUN``)."""
CHECK_PREFIX = "greenroom-check-"
BORN_HELD = "greenroom: born held"
REBOOTED = "Node unexpectedly rebooted"
PROLOG_ERROR = "Prolog error"
MAX_REASON_CHARS = 200
_MARKER = re.compile(r"greenroom:(\S+)")
_ACTION = re.compile(r"\s*action\s*:\s*([a-z-]*)\s*(:.*)?", re.IGNORECASE)
_RUNGS = {"reboot": Rung.REBOOT, "replace": Rung.REPLACE}
# Flags under which a node can neither be checked nor run a job, and what they mean to a reader.
_AWAY = {
    "NOT_RESPONDING": "not responding",
    "REBOOT_REQUESTED": "reboot requested",
    "REBOOT_ISSUED": "rebooting",
    "FUTURE": "not there yet",
    "DYNAMIC_FUTURE": "not there yet",
    "UNKNOWN": "never seen yet",
    "INVALID": "state invalid",
    "ERROR": "state error",
    "INVALID_REG": "registered with less than is configured",
}


class SlurmUnreadable(ValueError):
    """Slurm's output does not have the shape expected; the text says what was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmNode:
    """One node as Slurm prints it. Times are Unix s; 0 = none."""

    name: str
    flags: frozenset[str]
    """Base state and flags, upper case: IDLE, DRAIN, ..."""
    reason: str = ""
    reason_by: str = ""
    reason_at: float = 0.0
    boot: float = 0.0
    started: float = 0.0
    """Start of slurmd."""
    extra: str = ""
    partitions: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    gres: str = ""

    @property
    def marker(self) -> str:
        """The hold id in our marker, if it is there."""
        found = _MARKER.fullmatch(self.extra.strip())
        return found[1] if found else ""

    @property
    def drained(self) -> bool:
        """Whether nothing new starts because of a drain or of state DOWN."""
        return bool(self.flags & {"DRAIN", "DOWN"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmReservation:
    """One reservation."""

    name: str
    nodes: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()
    active: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmJob:
    """A job that holds resources."""

    id: str
    state: str
    user: str
    nodes: tuple[str, ...] = ()
    reservation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """All that one reading of Slurm showed."""

    nodes: Mapping[str, SlurmNode]
    reservations: Mapping[str, SlurmReservation]
    jobs: Collection[SlurmJob] = ()

    def views(self, owned: Mapping[str, str], *, born_held: str = BORN_HELD) -> list[NodeView]:
        """All nodes. ``owned``: node -> hold id, by our store."""
        on_node: dict[str, list[SlurmJob]] = {}
        for job in self.jobs:
            for name in job.nodes:
                on_node.setdefault(name, []).append(job)
        alien = self._maintenance_of_others()
        return [
            self._view(
                node,
                jobs=on_node.get(node.name, ()),
                alien=alien.get(node.name, ""),
                owned=owned.get(node.name, ""),
                born_held=born_held,
            )
            for node in self.nodes.values()
        ]

    def view(self, name: str, *, owned: str, born_held: str = BORN_HELD) -> NodeView | None:
        """One node; None if Slurm does not have it."""
        node = self.nodes.get(name)
        if node is None:
            return None
        jobs = [job for job in self.jobs if name in job.nodes]
        alien = self._maintenance_of_others().get(name, "")
        return self._view(node, jobs=jobs, alien=alien, owned=owned, born_held=born_held)

    def reserved(self, name: str) -> bool:
        """Whether our own reservation keeps this node."""
        ours = self.reservations.get(PREFIX + name)
        return ours is not None and ours.active and name in ours.nodes

    def _maintenance_of_others(self) -> dict[str, str]:
        # By the list of reservations: the node's own MAINTENANCE flag lags it by seconds.
        return {
            node: one.name
            for one in self.reservations.values()
            if "MAINT" in one.flags and one.active and not one.name.startswith(PREFIX)
            for node in one.nodes
        }

    def _view(
        self, node: SlurmNode, *, jobs: Collection[SlurmJob], alien: str, owned: str, born_held: str
    ) -> NodeView:
        reserved = self.reserved(node.name)
        standing, why = _standing(node, alien=alien, owned=owned, reserved=reserved, born_held=born_held)
        asked, asked_note = asked_for(node) if standing is Standing.FOREIGN and not alien else (None, "")
        ours = {job.id for job in jobs if job.reservation.startswith(PREFIX)}
        return NodeView(
            name=node.name,
            standing=standing,
            note=_note(node, why),
            jobs=tuple(job.id for job in jobs if job.id not in ours),
            our_jobs=tuple(job.id for job in jobs if job.id in ours),
            boot=node.boot,
            marked=standing is Standing.FREE and bool(node.marker),
            ours=node.drained
            and not alien
            and is_ours(node, owned=owned, reserved=reserved, born_held=born_held),
            asked=asked,
            asked_note=asked_note,
            groups=node.partitions,
            features=node.features,
            gpus=gpus_of(node.gres),
        )


def _standing(
    node: SlurmNode, *, alien: str, owned: str, reserved: bool, born_held: str
) -> tuple[Standing, str]:
    """The standing and, where the flags do not say it, why."""
    ours = is_ours(node, owned=owned, reserved=reserved, born_held=born_held)
    away = _why_away(node, ours=ours)
    if away:
        return Standing.UNAVAILABLE, away
    if alien:
        return Standing.FOREIGN, f"in the MAINT reservation {alien}"
    if "FAIL" in node.flags:
        return Standing.FOREIGN, "state FAIL"
    if node.drained:
        return (Standing.HELD if ours else Standing.FOREIGN), ""
    return (Standing.QUARANTINED if reserved else Standing.FREE), ""


def is_ours(node: SlurmNode, *, owned: str, reserved: bool, born_held: str) -> bool:
    """Whether the drain (or DOWN) of this node is ours to undo."""
    reason = node.reason.strip()
    if any(f"[{hold}]" in reason for hold in (owned, node.marker) if hold):
        return True
    if "DRAIN" in node.flags and (not reason or reason.startswith(born_held)):
        return True
    if reason.startswith(REBOOTED):
        return True
    # Slurm drains for a failed Prolog with this text, and our own Prolog fails on purpose.
    return reason.startswith(PROLOG_ERROR) and bool(owned or node.marker or reserved)


def _why_away(node: SlurmNode, *, ours: bool) -> str:
    for flag in sorted(node.flags):
        if flag in _AWAY:
            return _AWAY[flag]
        if flag.startswith("POWER"):
            return flag.lower().replace("_", " ")
    if "DOWN" not in node.flags:
        return ""
    # A held node that was lost and came back stays DOWN+DRAIN; nobody but us will take it up again.
    silent = "reboot timed out" in node.reason and node.started <= node.reason_at
    return "" if ours and not silent else "down"


def asked_for(node: SlurmNode) -> tuple[Rung | None, str]:
    """A repair asked for in the Reason (``Action:Reboot``), or a note that it is not understood."""
    found = _ACTION.match(node.reason)
    if "DRAIN" not in node.flags or found is None:
        return None, ""
    whole = _ACTION.fullmatch(node.reason)
    rung = _RUNGS.get(whole[1].lower()) if whole else None
    note = f"drain reason {node.reason.strip()!r} by {node.reason_by or 'somebody'} is not understood"
    return (rung, "") if rung else (None, f"{note}; expected Action:Reboot or Action:Replace")


def gpus_of(gres: str) -> int:
    """Configured GPUs of a Gres text like ``gpu:h100:8(S:0-1),nvme:2``."""
    total = 0
    for part in re.sub(r"\([^)]*\)", "", gres).split(","):
        kind, *rest = part.strip().split(":")
        if kind == "gpu":
            total += int(rest[-1]) if rest and rest[-1].isdigit() else 1
    return total


def one_line(text: str) -> str:
    """Text that is safe between double quotes on a line of scontrol: no control characters or quotes."""
    kept = "".join(char if char.isprintable() and char not in "\"'\\`" else " " for char in text)
    return " ".join(kept.replace("[", "(").replace("]", ")").split())


def reason_text(text: str, hold_id: str) -> str:
    """The Reason of our drain: at most MAX_REASON_CHARS, the hold id at its end."""
    tail = f" [{hold_id}]"
    head = f"greenroom: {one_line(text).removeprefix('greenroom: ')}"
    return head[: MAX_REASON_CHARS - len(tail)] + tail


def _note(node: SlurmNode, why: str) -> str:
    state = "+".join(sorted(node.flags))
    by = f" [{node.reason_by}]" if node.reason_by and node.reason else ""
    # Some versions keep the Reason after a resume: it explains only a node that is out.
    reason = f"{' '.join(node.reason.split())}{by}" if node.drained else ""
    return ": ".join(part for part in (state, why, reason) if part)
