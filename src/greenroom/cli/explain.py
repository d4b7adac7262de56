"""`greenroom explain NODE`: event, rule, action, for the whole history."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from greenroom.cli.session import clock, config_option, json_option, print_json, session
from greenroom.cli.tables import console
from greenroom.controller.gate import UnknownNode
from greenroom.store import Entry


@click.command()
@click.argument("node")
@click.option("--limit", default=200, show_default=True)
@config_option
@json_option
def command(node: str, limit: int, path: Path, as_json: bool) -> int:
    """Why a node is where it is: every event, the rule it met, the actions that followed."""
    with session(path) as opened:
        if opened.store.load(node) is None:
            raise UnknownNode(f"no node {node!r}; see `greenroom nodes`")
        entries = opened.store.timeline(node, limit)
    if as_json:
        print_json(entries)
        return 0
    out = console()
    for entry in entries:
        out.print(f"{clock(entry.at)}  {told(entry)}", markup=False)
        out.print(f"    rule    {entry.rule}", markup=False)
        if entry.phase_before != entry.phase_after:
            text = f"{entry.phase_before.value} -> {entry.phase_after.value}: {entry.reason}"
            out.print(f"    phase   {text}", markup=False)
        for action in entry.actions:
            detail = f" ({action['detail']})" if action["detail"] else ""
            out.print(f"    action  {named(action)}: {action['status']}{detail}", markup=False)
    return 0


def told(entry: Entry) -> str:
    """The event in words."""
    event = entry.event
    match entry.kind:
        case "Seen":
            view = event["view"]
            jobs = f", {len(view['jobs'])} job(s)" if view["jobs"] else ""
            return f"seen {view['standing']}{jobs}" + (f": {view['note']}" if view["note"] else "")
        case "RunFinished":
            codes = ", ".join(sorted({finding["code"] for finding in event["findings"]}))
            return f"run {event['run_id'] or '(unasked)'} says {event['verdict']}" + (
                f": {codes}" if codes else ""
            )
        case "RepairEnded":
            how = "is done" if event["ok"] else "was refused" if event["refused"] else "failed"
            return f"repair {event['action_id']} {how}" + (f": {event['detail']}" if event["detail"] else "")
        case "CheckRequested":
            return f"{event['user']} asks for a {event['profile']} check {event['reason']}".rstrip()
        case "OutGranted":
            return f"may leave service: {event['out']} of at most {event['limit']} out"
        case "RunLost":
            return f"run {event['run_id']} lost: {event['why']}"
        case _:
            verb = entry.kind.removeprefix("Operator").lower()
            return f"{event.get('user', '?')}: {verb}: {event.get('reason', '')}"


def named(action: dict[str, Any]) -> str:
    """The action in words."""
    match action["kind"]:
        case "Launch":
            return f"start {action['profile']} check {action['run_id']}"
        case "Cancel":
            return f"cancel run {action['run_id']}"
        case "StartRepair":
            return f"{action['rung']} ({action['action_id']})"
        case "Requeue":
            return "requeue its jobs"
        case _:
            return f"tell a person: {action.get('text', '')}"
