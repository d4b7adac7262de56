"""`greenroom node NAME`: state and timeline."""

from __future__ import annotations

import time
from pathlib import Path

import click
from rich.text import Text

from greenroom.cli.explain import told
from greenroom.cli.nodes import why
from greenroom.cli.session import ago, clock, coloured, config_option, json_option, print_json, session
from greenroom.cli.tables import console, plain
from greenroom.controller.gate import UnknownNode
from greenroom.store import Entry


@click.command()
@click.argument("name")
@click.option("--limit", default=50, show_default=True, help="Entries of the timeline.")
@config_option
@json_option
def command(name: str, limit: int, path: Path, as_json: bool) -> int:
    """One node: where it stands and what happened."""
    with session(path) as opened:
        state = opened.store.load(name)
        if state is None:
            raise UnknownNode(f"no node {name!r}; see `greenroom nodes`")
        entries = opened.store.timeline(name, limit)
    if as_json:
        print_json({"state": state, "timeline": entries})
        return 0
    out = console()
    out.print(
        Text(state.node, style="bold"),
        coloured(state.phase),
        Text(plain(f"for {ago(state.since, time.time())}: {why(state)}")),
    )
    facts = {
        "hardware": state.hardware,
        "groups": ", ".join(state.groups),
        "verdict": f"{state.verdict} in run {state.verdict_run}" if state.verdict else "",
        "admitted": f"{clock(state.admitted.at)} by {state.admitted.by}" if state.admitted else "",
        "attempts": ", ".join(f"{one.rung.value} ({one.fault})" for one in state.attempts),
    }
    for key, value in facts.items():
        if value:
            out.print(f"  {key:9} {value}", markup=False)
    out.print()
    for entry in entries:
        out.print(line(entry), markup=False)
    return 0


def line(entry: Entry) -> str:
    """One entry as a line: time, phase (change), what happened."""
    same = entry.phase_before is entry.phase_after
    change = entry.phase_after.value if same else f"{entry.phase_before.value} -> {entry.phase_after.value}"
    return f"{clock(entry.at)}  {change:27} {told(entry)}"
