"""`greenroom groups`: how far the groups are."""

from __future__ import annotations

from pathlib import Path

import click

from greenroom.cli.session import config_option, json_option, print_json, session
from greenroom.cli.tables import table
from greenroom.controller.groups import progress


@click.command()
@config_option
@json_option
def command(path: Path, as_json: bool) -> int:
    """Wanted, arrived, held, checking, admitted, failed; median time from arrival to admission."""
    with session(path) as opened:
        groups = progress(opened.config.rules.groups, opened.store.states())
    if as_json:
        print_json(groups)
        return 0
    rows = [
        (
            group.name,
            str(group.wanted),
            str(group.minimum),
            str(group.arrived),
            str(group.held),
            str(group.checking),
            str(group.admitted),
            str(group.recovering),
            str(group.with_person),
            f"{group.time_to_admit_s:.0f}s" if group.time_to_admit_s else "-",
        )
        for group in groups
    ]
    columns = (
        "GROUP",
        "WANTED",
        "MIN",
        "ARRIVED",
        "HELD",
        "CHECKING",
        "ADMITTED",
        "RECOVERING",
        "PERSON",
        "ADMIT",
    )
    table(*columns, rows=rows, empty="no groups in the configuration")
    return 0
