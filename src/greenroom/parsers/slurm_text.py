"""Text of scontrol and squeue -> nodes, reservations, jobs, configuration. Times are read as UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from greenroom.parsers.hostlist import HostlistError, expand
from greenroom.parsers.slurm_nodes import SlurmJob, SlurmNode, SlurmReservation, SlurmUnreadable

JOB_FORMAT = "%i|%T|%u|%N|%v"
"""For squeue: no field that a user writes freely (a job name may hold any character)."""
_VERSION = re.compile(r"\b(\d+)\.(\d+)\.(\d+)")
_FIELD = re.compile(r"(\w+)=(\S*)")
_BY = re.compile(r" \[([^\s@\]]+)@(\S+)\](?= |$)")
# Marks that older versions put behind the base state instead of a flag (sinfo(1), NODE STATE CODES).
_MARKS = {
    "*": "NOT_RESPONDING",
    "~": "POWERED_DOWN",
    "#": "POWERING_UP",
    "!": "POWER_DOWN",
    "%": "POWERING_DOWN",
    "$": "MAINTENANCE",
    "@": "REBOOT_REQUESTED",
    "^": "REBOOT_ISSUED",
    "-": "PLANNED",
}


def parse_version(text: str) -> tuple[int, int, int]:
    """Of ``scontrol --version``: ``slurm 24.11.5``, ``slurm-wlm 22.05.8``."""
    found = _VERSION.search(text)
    if found is None:
        raise SlurmUnreadable(f"expected a version like 'slurm 24.11.5', got {text[:80]!r}")
    return int(found[1]), int(found[2]), int(found[3])


def parse_nodes(text: str) -> list[SlurmNode]:
    """Of ``scontrol show node -o``; never an empty list."""
    nodes = [_node(line) for line in text.splitlines() if line.strip()]
    if not nodes:
        raise SlurmUnreadable("Slurm lists no nodes at all")
    return nodes


def _node(line: str) -> SlurmNode:
    head, reason, by, at, tail = _split(line)
    fields = dict(reversed(_FIELD.findall(head)))  # the first of a name counts
    if not line.startswith("NodeName=") or not fields.get("State"):
        raise SlurmUnreadable(f"expected NodeName=... State=... on a line, got {line[:80]!r}")
    return SlurmNode(
        name=fields["NodeName"],
        flags=_flags(fields["State"]),
        reason=reason,
        reason_by=by,
        reason_at=unix_time(at),
        boot=unix_time(fields.get("BootTime", "")),
        started=unix_time(fields.get("SlurmdStartTime", "")),
        extra=_extra(tail),
        partitions=_words(fields.get("Partitions", "")),
        features=_words(fields.get("ActiveFeatures", "")),
        gres=fields.get("Gres", "").replace("(null)", ""),
    )


def _split(line: str) -> tuple[str, str, str, str, str]:
    """Fields, reason, its author and time, and what comes after: free texts stand at the end of the line.

    A Reason may hold anything, also `` Extra=``; it ends at the last ``[user@time]``.
    """
    head, separator, rest = line.partition(" Reason=")
    if not separator:
        start = min((i for i in (line.find(" Comment="), line.find(" Extra=")) if i >= 0), default=len(line))
        return line[:start], "", "", "", line[start:]
    signed = list(_BY.finditer(rest))
    if signed:
        last = signed[-1]
        return head, rest[: last.start()], last[1], last[2], rest[last.end() :]
    start = min((i for i in (rest.find(" Comment="), rest.find(" Extra=")) if i >= 0), default=len(rest))
    return head, rest[:start], "", "", rest[start:]


def _extra(tail: str) -> str:
    _, separator, text = tail.rpartition(" Extra=")
    return text.partition(" ReservationName=")[0].strip().strip("\"'") if separator else ""


def _flags(state: str) -> frozenset[str]:
    flags = set()
    for word in state.split("+"):
        name = word.rstrip("".join(_MARKS))
        flags |= {name.upper(), *(_MARKS[mark] for mark in word[len(name) :])}
    return frozenset(flags - {""})


def parse_reservations(text: str) -> list[SlurmReservation]:
    """Of ``scontrol show reservation -o``; none is a good answer here."""
    found = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("No reservations"):
            continue
        fields = dict(reversed(_FIELD.findall(line)))
        if not line.startswith("ReservationName=") or "Nodes" not in fields:
            raise SlurmUnreadable(f"expected ReservationName=... Nodes=... on a line, got {line[:80]!r}")
        found.append(
            SlurmReservation(
                name=fields["ReservationName"],
                nodes=_hosts(fields["Nodes"]),
                flags=frozenset(_words(fields.get("Flags", ""))),
                active=fields.get("State", "ACTIVE") == "ACTIVE",
            )
        )
    return found


def parse_jobs(text: str) -> list[SlurmJob]:
    """Of ``squeue`` with JOB_FORMAT."""
    jobs = []
    for line in text.splitlines():
        fields = line.strip().split("|")
        if len(fields) != len(JOB_FORMAT.split("|")):
            raise SlurmUnreadable(f"expected job|state|user|nodes|reservation on a line, got {line[:80]!r}")
        job, state, user, nodes, reservation = fields
        reservation = "" if reservation == "(null)" else reservation
        jobs.append(SlurmJob(id=job, state=state, user=user, nodes=_hosts(nodes), reservation=reservation))
    return jobs


def parse_config(text: str) -> dict[str, str]:
    """Of ``scontrol show config``: lines ``Key = value``. Unset values are empty."""
    settings = {}
    for line in text.splitlines():
        key, separator, value = line.partition("=")
        if separator and key.strip() and " " not in key.strip():
            settings[key.strip()] = "" if value.strip() in ("(null)", "N/A") else value.strip()
    return settings


def _hosts(text: str) -> tuple[str, ...]:
    if text in ("", "(null)"):
        return ()
    try:
        return tuple(expand(text))
    except HostlistError as error:
        raise SlurmUnreadable(f"expected a host list: {error}") from None


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split(",") if word and word != "(null)")


def unix_time(text: str) -> float:
    """Unix s of ``2026-12-01T12:48:00``, printed for UTC; 0 for None and Unknown."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
