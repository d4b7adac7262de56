"""`greenroom run ID`: what was checked and found."""

from __future__ import annotations

from pathlib import Path

import click

from greenroom.cli.session import clock, config_option, json_option, print_json, session
from greenroom.cli.tables import console, table


@click.command()
@click.argument("run_id")
@config_option
@json_option
def command(run_id: str, path: Path, as_json: bool) -> int:
    """One run: each check's outcome and findings."""
    with session(path) as opened:
        run = opened.store.run(run_id)
    if run is None:
        raise click.ClickException(f"no run {run_id!r}; see `greenroom runs`")
    if as_json:
        print_json(run)
        return 0
    out = console()
    took = f", took {run.seconds:.1f} s" if run.finished_at else ""
    out.print(
        f"{run.run_id}  {run.profile} check of {run.node}, {clock(run.launched_at)}{took}", markup=False
    )
    out.print(f"verdict: {run.verdict or 'running'}\n", markup=False)
    rows = []
    for result in run.report.get("results", []):
        found = "; ".join(f"{one['code']} {one['subject']}: {one['message']}" for one in result["findings"])
        rows.append(
            (result["check"], result["outcome"], f"{result['seconds']:.2f}s", found or result["reason"])
        )
    table("CHECK", "OUTCOME", "TOOK", "FOUND", rows=rows, empty="no report yet")
    for check, reason in run.report.get("left_out", {}).items():
        out.print(f"left out: {check}: {reason}", markup=False)
    return 0
