"""`greenroom wait`: start the job when enough nodes are admitted, before the last ones arrive."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from greenroom.cli.check_nodes import duration
from greenroom.cli.session import config_option, json_option, print_json, session
from greenroom.controller.groups import GroupProgress, progress
from greenroom.model.words import Exit, Phase
from greenroom.parsers.hostlist import compress


@click.command()
@click.option("-g", "--group", required=True, help="A group of the configuration.")
@click.option(
    "--min", "minimum", type=int, default=0, help="Admitted nodes needed; default: the group's min."
)
@click.option("--timeout", type=duration, default=0.0, help="Give up after this long (30m); default: never.")
@config_option
@json_option
def command(group: str, minimum: int, timeout: float, path: Path, as_json: bool) -> int:
    """Return 0 and print the admitted nodes once a group has enough of them; 1 at the timeout."""
    started = time.monotonic()
    said = ""
    with session(path) as opened:
        names = [one.name for one in opened.config.rules.groups]
        if group not in names:
            raise click.UsageError(f"no group {group!r}; groups: {', '.join(names) or 'none configured'}")
        while True:
            states = opened.store.states()
            now = next(one for one in progress(opened.config.rules.groups, states) if one.name == group)
            needed = minimum or now.minimum or now.wanted or 1
            if (line := _line(now, needed)) != said:
                print(line, file=sys.stderr)
                said = line
            enough = now.admitted >= needed
            if enough or (timeout and time.monotonic() - started > timeout):
                break
            time.sleep(1.0)
    ready = [state.node for state in states if state.phase is Phase.IN_SERVICE and group in state.groups]
    if as_json:
        print_json({"enough": enough, "needed": needed, "nodes": ready, "group": now})
    elif enough:
        print(compress(ready))
    else:
        print(
            f"greenroom: after {timeout:g} s {now.admitted} of {needed} nodes are admitted", file=sys.stderr
        )
    return Exit.FIT if enough else Exit.UNFIT


def _line(now: GroupProgress, needed: int) -> str:
    parts = {
        "arrived": now.arrived,
        "held": now.held,
        "checking": now.checking,
        "recovering": now.recovering,
        "with a person": now.with_person,
    }
    rest = ", ".join(f"{count} {name}" for name, count in parts.items() if count)
    return f"{now.name}: {now.admitted} of {needed} admitted ({now.wanted} wanted; {rest})"
