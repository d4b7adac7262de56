"""`greenroom nodes`: all nodes at a glance."""

from __future__ import annotations

import time
from pathlib import Path

import click

from greenroom.cli.session import ago, coloured, config_option, hosts, json_option, print_json, session
from greenroom.cli.tables import table
from greenroom.policy.state import NodeState


@click.command()
@click.option("-w", "--nodelist", default="", help="Only these (Slurm host list).")
@click.option("--phase", default="", help="Only nodes in this phase.")
@config_option
@json_option
def command(nodelist: str, phase: str, path: Path, as_json: bool) -> int:
    """All nodes: phase, verdict, reason, since, attempts."""
    with session(path) as opened:
        states = opened.store.states()
    if nodelist:
        wanted = set(hosts(nodelist))
        states = [state for state in states if state.node in wanted]
    if phase:
        states = [state for state in states if state.phase == phase]
    if as_json:
        print_json(states)
        return 0
    now = time.time()
    rows = [
        (
            state.node,
            coloured(state.phase),
            state.verdict or "-",
            ago(state.since, now),
            str(len(state.attempts)),
            why(state),
        )
        for state in states
    ]
    table("NODE", "PHASE", "VERDICT", "SINCE", "ATTEMPTS", "REASON", rows=rows, empty="no nodes yet")
    return 0


def why(state: NodeState) -> str:
    """Reason, and what stands in the way (somebody else's hold, a node that is down)."""
    parts = [state.reason, f"leaving: {state.leaving}" if state.leaving else "", state.note]
    if state.operator_hold and state.operator_hold not in state.reason:
        parts.append(f"held by {state.operator_hold}")
    return "; ".join(part for part in parts if part)
