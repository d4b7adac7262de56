"""`greenroom check-nodes`: ask for checks of nodes of the cluster."""

from __future__ import annotations

import re
import time
from pathlib import Path

import click

from greenroom.cli.session import Session, config_option, hosts, json_option, print_json, session, user
from greenroom.policy.events import CheckRequested
from greenroom.runner.profiles import PROFILES

UNITS_S = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def duration(text: str | float) -> float:
    """Seconds of ``90``, ``90s``, ``15m``, ``2h``, ``1d``."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", str(text))
    if not match:
        raise click.BadParameter(f"{text!r}: expected a number with s, m, h or d, e.g. 15m")
    return float(match[1]) * UNITS_S[match[2] or "s"]


@click.command()
@click.option("-w", "--nodelist", default="", help="Host list in Slurm notation: gpu[01-08].")
@click.option("-p", "--partition", default="", help="All nodes of a partition.")
@click.option("-C", "--feature", default="", help="All nodes with a feature.")
@click.option("-g", "--group", default="", help="All nodes of a group of the configuration.")
@click.option("--profile", type=click.Choice(list(PROFILES)), default="light", show_default=True)
@click.option("--reason", default="", help="Kept in the nodes' history with your name.")
@click.option(
    "--max-wait",
    type=duration,
    default=0.0,
    help="Skip nodes still busy after this long (2h); default: wait.",
)
@click.option("--all-at-once", is_flag=True, help="Go beyond the fleet limit: take all of them out now.")
@config_option
@json_option
def command(
    nodelist: str,
    partition: str,
    feature: str,
    group: str,
    profile: str,
    reason: str,
    max_wait: float,
    all_at_once: bool,
    path: Path,
    as_json: bool,
) -> int:
    """Have nodes checked. Running jobs are not interrupted: a busy node takes no new work and is checked
    when its last job ends. Nodes in service are checked in waves, within the fleet limit.
    """
    if sum(bool(one) for one in (nodelist, partition, feature, group)) != 1:
        raise click.UsageError("name the nodes with exactly one of -w, --partition, --feature, --group")
    event = CheckRequested(
        profile=profile,
        user=user(),
        reason=reason,
        skip_after=time.time() + max_wait if max_wait else 0.0,
        all_at_once=all_at_once,
    )
    with session(path) as opened:
        names = hosts(nodelist) if nodelist else _members(opened, partition, feature, group)
        done = []
        for node in names:
            state, decision = opened.gate.submit(node, event)
            done.append({"node": node, "phase": state.phase, "rule": decision.rule if decision else ""})
    if as_json:
        print_json(done)
    else:
        for one in done:
            print(f"{one['node']}: {one['rule']}")
    return 0


def _members(opened: Session, partition: str, feature: str, group: str) -> list[str]:
    found = [
        state.node
        for state in opened.store.states()
        if partition in state.partitions or feature in state.features or group in state.groups
    ]
    if not found:
        what = (
            f"partition {partition}" if partition else f"feature {feature}" if feature else f"group {group}"
        )
        raise click.ClickException(f"no node known in {what}; see `greenroom nodes`")
    return found
