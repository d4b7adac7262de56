"""Why Slurm holds a node back: the words of slurmctld and of prologs -> code."""

from __future__ import annotations

import re

_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), f"slurm.node.{code}")
    for pattern, code in (
        (r"gres/\w+ count (?:reported lower|too low)", "gres_missing"),
        (r"low realmemory|low real memory", "low_memory"),
        (r"low (?:cpus|socket|core|tmpdisk|cores)", "low_resources"),
        (r"kill task failed|job not ending with signals", "kill_task_failed"),
        (r"not responding", "not_responding"),
        (r"unexpectedly rebooted", "rebooted"),
        (r"prolog error|prolog failed|batch job complete failure", "prolog_error"),
        (r"epilog error|epilog failed", "epilog_error"),
        (r"^\s*action\s*:", "action_requested"),
        (r"\bNHC\b|health ?check", "health_check"),
        (r"\bxid\b|gpu|nvlink|ecc\b", "gpu"),
        (r"\bib\b|infiniband|mlx5|link down", "network"),
        (r"configuration unexpectedly changed|invalid (?:registration|config)", "config"),
        (r"reboot (?:asap|requested|issued)|powering|scheduled|maintenance", "planned"),
    )
)


def find_reason(reason: str) -> str:
    """The code of a reason; ``slurm.node.drained`` for words of a person's own."""
    return next((code for pattern, code in _RULES if pattern.search(reason)), "slurm.node.drained")


def find_counts(reason: str) -> tuple[int | None, int | None]:
    """(have, want) of ``(0 < 8)``."""
    found = re.search(r"\((\d{1,9}) ?< ?(\d{1,9})\)", reason)
    return (int(found[1]), int(found[2])) if found else (None, None)
