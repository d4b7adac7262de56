"""``scontrol show nodes --json`` (Slurm 23.02 and later) -> nodes."""

from __future__ import annotations

import json
from typing import Any

from greenroom.parsers.slurm_nodes import SlurmNode, SlurmUnreadable


def parse_nodes(text: str) -> list[SlurmNode]:
    """The nodes; never an empty list.

    Raises:
        SlurmUnreadable: not JSON, errors reported inside, or no nodes.
    """
    try:
        data = json.loads(text)
    except ValueError as error:
        raise SlurmUnreadable(f"expected JSON with a list of nodes, got {text[:80]!r}: {error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), list):
        raise SlurmUnreadable(f"expected a JSON object with a list 'nodes', got {text[:80]!r}")
    # Some versions exit with 0 and an empty list when the controller is down: the error stands inside.
    if data.get("errors"):
        raise SlurmUnreadable(f"Slurm reports errors: {str(data['errors'])[:200]}")
    if not data["nodes"]:
        raise SlurmUnreadable("Slurm lists no nodes at all")
    return [_node(item) for item in data["nodes"]]


def _node(item: Any) -> SlurmNode:  # noqa: ANN401 - JSON
    if not isinstance(item, dict) or not isinstance(item.get("name"), str) or not item["name"]:
        raise SlurmUnreadable(f"expected a node with a name, got {str(item)[:80]}")
    state = item.get("state")
    if isinstance(state, str):  # one word before 23.02, its flags apart
        state = [state, *item.get("state_flags", ())]
    if not isinstance(state, list) or not state:
        raise SlurmUnreadable(f"node {item['name']}: expected a list 'state', got {state!r:.80}")
    return SlurmNode(
        name=item["name"],
        flags=frozenset(str(flag).upper() for flag in state),
        reason=str(item.get("reason") or ""),
        reason_by=str(item.get("reason_set_by_user") or ""),
        reason_at=_time(item.get("reason_changed_at")),
        boot=_time(item.get("boot_time")),
        started=_time(item.get("slurmd_start_time")),
        extra=str(item.get("extra") or ""),
        partitions=_words(item.get("partitions")),
        features=_words(item.get("active_features") or item.get("features")),
        gres=str(item.get("gres") or ""),
    )


def _time(value: Any) -> float:  # noqa: ANN401
    """Unix s from a number or from ``{"set", "infinite", "number"}``; 0 if there is none."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") and not value.get("infinite") else 0
    return float(value) if isinstance(value, (int, float)) else 0.0


def _words(value: Any) -> tuple[str, ...]:  # noqa: ANN401
    if isinstance(value, str):
        value = value.split(",")
    return tuple(str(word) for word in value or () if word)
