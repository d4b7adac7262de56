"""`greenroom runs`: the latest check runs."""

from __future__ import annotations

import time
from pathlib import Path

import click

from greenroom.cli.session import ago, config_option, json_option, print_json, session
from greenroom.cli.tables import table


@click.command()
@click.option("--node", default="", help="Only of this node.")
@click.option("--limit", default=30, show_default=True)
@config_option
@json_option
def command(node: str, limit: int, path: Path, as_json: bool) -> int:
    """The latest runs, newest first."""
    with session(path) as opened:
        runs = opened.store.runs(node, limit)
    if as_json:
        print_json(runs)
        return 0
    now = time.time()
    rows = [
        (
            run.run_id,
            run.node,
            run.profile,
            run.verdict or "running",
            ago(run.launched_at, now),
            f"{run.seconds:.1f}s",
        )
        for run in runs
    ]
    table("RUN", "NODE", "PROFILE", "VERDICT", "AGE", "TOOK", rows=rows, empty="no runs yet")
    return 0
