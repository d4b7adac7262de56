"""`greenroom handled`: a person has seen to what the logs of this machine tell."""

from __future__ import annotations

from pathlib import Path

import click

from greenroom.cli.session import clock, user
from greenroom.model.words import Exit
from greenroom.probes.host import LocalHost
from greenroom.runner.cursor import move_cursor


@click.command()
@click.argument("reason")
@click.option(
    "--state-dir",
    type=click.Path(path_type=Path),
    default=Path("/var/lib/greenroom"),
    envvar="GREENROOM_STATE_DIR",
    show_default=True,
)
def command(reason: str, state_dir: Path) -> int:
    """Say that this machine was repaired without a reboot: what its logs told until now counts no more.

    REASON says what was done (a GPU reset, a cable). Checks look anew all the same.
    """
    if not reason.strip():
        raise click.UsageError("REASON: say what was done, e.g. 'reset GPU 3 after Xid 48'")
    host = LocalHost()
    now = host.now()
    try:
        move_cursor(state_dir, host, at=now, why=f"{user()}: {reason}")
    except OSError as error:
        raise click.ClickException(f"{state_dir}: {error.strerror or error}; are you root?") from error
    print(f"logs of this machine count from {clock(now)} on")
    return Exit.FIT
