"""`greenroom checks`: what can be checked, at what cost, and what it finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from greenroom.checks.docs import pages
from greenroom.checks.frame import Check, load_all
from greenroom.cli.tables import table


@click.command("checks")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--docs", type=click.Path(path_type=Path), help="Write a page for each check into this folder.")
def command(*, as_json: bool, docs: Path | None) -> None:
    """List the checks: cost, needs, faults detected."""
    if docs:
        docs.mkdir(parents=True, exist_ok=True)
        for name, text in pages().items():
            (docs / name).write_text(text, encoding="utf-8")
        print(f"{len(pages())} pages in {docs}")
    elif as_json:
        print(json.dumps([_row(check) for check in load_all().values()], indent=2))
    else:
        _print_table()


def _row(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "about": check.about,
        "stage": check.stage,
        "cost_s": check.cost_s,
        "load_share": check.load_share,
        "profiles": list(check.profiles),
        "needs": sorted(check.needs),
        "expects": sorted(check.expects),
        "vendors": sorted(check.vendors),
        "detects": sorted(check.detects),
    }


def _print_table() -> None:
    rows = []
    for check in load_all().values():
        load = f" + {check.load_share:.0%} of the budget" if check.load_share else ""
        codes = sorted(check.detects)
        more = f", and {len(codes) - 4} more" if len(codes) > 4 else ""
        needs = ", ".join(sorted(check.needs))
        rows.append(
            (check.name, check.stage, f"{check.cost_s:g} s{load}", needs, ", ".join(codes[:4]) + more)
        )
    table("CHECK", "STAGE", "COST", "NEEDS", "FINDS", rows=rows, empty="no checks")
