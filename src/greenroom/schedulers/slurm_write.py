"""Writes to Slurm: drain and reservation as the two halves of a hold, each step read back.

A drain keeps everybody out, a MAINT reservation of root keeps out all but our checks. The change
between them overlaps, so that no moment is open: drain before the reservation goes, reservation
before the drain goes. Slurm offers no compare-and-set, so what is undone is compared with a fresh
reading right before; what somebody else wrote in the milliseconds between is the remaining risk.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenroom.model.nodes import NodeView, Want, Write, Written
from greenroom.model.words import Standing
from greenroom.parsers.hostlist import is_name
from greenroom.parsers.slurm_nodes import PREFIX, Reading, SlurmNode, reason_text
from greenroom.schedulers.slurm_client import SlurmClient

_OPEN = (Standing.FREE, Standing.QUARANTINED, Standing.HELD)


def apply(client: SlurmClient, writes: Sequence[Write]) -> list[Written]:
    """See schedulers.Scheduler.apply."""
    refused: dict[str, str] = {}
    if len({write.node for write in writes}) < len(writes):
        raise ValueError("two writes for one node in one call: the order between them is not kept")
    reading = client.read()
    todo = _allowed(client, reading, writes, refused)
    complaints: list[str] = []
    for step in (_close, _open):
        lines = [line for write in todo for line in step(reading, write)]
        if lines:
            complaints += client.batch(lines)
            # Fresh: only what is seen to be closed is opened elsewhere, and only if it is still ours.
            reading = client.read()
            todo = _allowed(client, reading, todo, refused) if step is _close else todo
    return [_written(client, reading, write, refused.get(write.node, ""), complaints) for write in writes]


def _written(
    client: SlurmClient, after: Reading, write: Write, refused: str, complaints: Sequence[str]
) -> Written:
    missing = refused or _missing(client, after, write)
    if missing and not refused and complaints:
        about = [line for line in complaints if write.node in line] or complaints
        missing = f"{missing} (Slurm said: {'; '.join(about)[:300]})"
    return Written(write=write, ok=not missing, detail=missing)


def _allowed(
    client: SlurmClient, reading: Reading, writes: Sequence[Write], refused: dict[str, str]
) -> list[Write]:
    """Those that may go on; why not goes into ``refused``."""
    allowed = []
    for write in writes:
        view = _view(client, reading, write)
        if not is_name(write.node):
            refused[write.node] = "not a node name"
        elif view is None:
            refused[write.node] = "Slurm has no such node"
        elif view.standing in _OPEN or (view.standing is Standing.FOREIGN and write.adopt and view.asked):
            allowed.append(write)
        else:
            # Right after a resume or a new drain the node is being pinged: seen again at the next reading.
            whose = "held by somebody else" if view.standing is Standing.FOREIGN else "not available"
            refused[write.node] = f"{whose}: {view.note}"
    return allowed


def _close(reading: Reading, write: Write) -> list[str]:
    """First step: what keeps others out. Nothing is undone before it is seen to be in place."""
    node, name = reading.nodes[write.node], write.node
    reserved = reading.reserved(name)
    lines: list[str] = []
    if (write.want is Want.HELD and not _stamped(node, write)) or (
        write.want is Want.QUARANTINED and not node.drained and not reserved
    ):
        lines.append(_drain(node, write))
    if write.want is Want.QUARANTINED and not reserved:
        lines.append(
            f"create reservation ReservationName={PREFIX}{name} StartTime=now Duration=UNLIMITED "
            f"Users=root Flags=MAINT,IGNORE_JOBS Nodes={name}"
        )
    return lines


def _open(reading: Reading, write: Write) -> list[str]:
    """Second step: undo what is ours."""
    node, name = reading.nodes[write.node], write.node
    reserved = reading.reserved(name)
    resume = [f"update nodename={name} state=resume"] if node.drained else []
    unreserve = [f"delete reservationname={PREFIX}{name}"] if reserved else []
    if write.want is Want.HELD:
        return unreserve if "DRAIN" in node.flags else []
    if write.want is Want.QUARANTINED:
        stamp = _may_mark(node) and node.marker != write.hold_id
        marker = [f"update nodename={name} extra=greenroom:{write.hold_id}"] if stamp else []
        return [*marker, *resume] if reserved else []
    # 24.11 keeps the Reason of a drain that is over, and it cannot be emptied, only overwritten - which
    # could hit that of an admin who drains in this very moment. It stays: only flags are gone by.
    unmark = [f"update nodename={name} extra="] if node.marker else []
    return [*unreserve, *resume, *unmark]


def _missing(client: SlurmClient, reading: Reading, write: Write) -> str:
    """What is not as wanted after the write; empty if all is."""
    view, node = _view(client, reading, write), reading.nodes.get(write.node)
    if view is None or node is None:
        return "the node is gone"
    if view.standing is Standing.FOREIGN:
        return f"held by somebody else: {view.note}"
    reserved = reading.reserved(write.node)
    if write.want is Want.HELD:
        return (
            ""
            if "DRAIN" in node.flags and _stamped(node, write) and not reserved
            else f"not held: {view.note}"
        )
    if node.drained:
        return f"not resumed: {view.note}"
    if write.want is Want.QUARANTINED:
        return "" if reserved else f"not reserved: {view.note}"
    return "the reservation is still there: a check job is in it" if reserved else ""


def _view(client: SlurmClient, reading: Reading, write: Write) -> NodeView | None:
    return reading.view(write.node, owned=write.hold_id, born_held=client.settings.born_held_reason)


def _drain(node: SlurmNode, write: Write) -> str:
    # One command for both, so that nobody ever sees the Reason without the marker.
    line = f'update nodename={node.name} state=drain reason="{reason_text(write.reason, write.hold_id)}"'
    return f"{line} extra=greenroom:{write.hold_id}" if _may_mark(node) else line


def _stamped(node: SlurmNode, write: Write) -> bool:
    return "DRAIN" in node.flags and f"[{write.hold_id}]" in node.reason


def _may_mark(node: SlurmNode) -> bool:
    """Whether ``extra`` may be written: sites keep things of their own there (sbatch --extra)."""
    return not node.extra.strip() or bool(node.marker)
