"""Slurm's own records of user jobs against the times at which nodes were in service."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from greenroom.model.words import Phase
from greenroom.parsers.hostlist import expand
from greenroom.parsers.slurm_nodes import PREFIX
from greenroom.parsers.slurm_text import unix_time
from greenroom.schedulers.slurm_client import SlurmClient
from greenroom.store import Store

SLACK_S = 1.0
"""Slurm's records have whole seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """One job that started."""

    id: str
    state: str
    nodes: tuple[str, ...]
    started_at: float
    """Unix s."""
    ended_at: float
    """Unix s; 0 = still running."""


def user_jobs(client: SlurmClient) -> list[JobRecord]:
    """All jobs of users that have started, from `scontrol show job`."""
    records = []
    for line in client.ask("scontrol", "show", "job", "-o").splitlines():
        fields = dict(part.partition("=")[::2] for part in line.split(" ") if "=" in part)
        started = unix_time(fields.get("StartTime", ""))
        nodes = fields.get("NodeList", "")
        if fields.get("JobName", "").startswith(PREFIX) or not started or nodes in ("", "(null)"):
            continue
        if fields["JobState"] in ("PENDING", "REQUEUED"):
            continue  # a start in the future, or one that was taken back
        running = fields["JobState"] in ("RUNNING", "COMPLETING")
        records.append(
            JobRecord(
                id=fields["JobId"],
                state=fields["JobState"],
                nodes=tuple(expand(nodes)),
                started_at=started,
                ended_at=0.0 if running else unix_time(fields.get("EndTime", "")),
            )
        )
    return records


def service_times(store: Store, node: str) -> list[tuple[float, float]]:
    """When a node was in service: (from, to) in Unix s; ``to`` is infinite if it still is."""
    times: list[tuple[float, float]] = []
    for entry in store.timeline(node, limit=10_000):
        serves = entry.phase_after is Phase.IN_SERVICE
        if serves and entry.phase_before is not Phase.IN_SERVICE:
            times.append((entry.at, float("inf")))
        elif not serves and times and times[-1][1] == float("inf"):
            times[-1] = (times[-1][0], entry.at)
    return times


def started_too_early(store: Store, records: Iterable[JobRecord]) -> list[str]:
    """Jobs that started on a node which was not in service then, in words."""
    served: dict[str, list[tuple[float, float]]] = {}
    wrong = []
    for record in records:
        for node in record.nodes:
            times = served.setdefault(node, service_times(store, node))
            if not any(start - SLACK_S <= record.started_at <= end + SLACK_S for start, end in times):
                wrong.append(
                    f"job {record.id} ({record.state}) started on {node} while it was not in service"
                )
    return wrong
