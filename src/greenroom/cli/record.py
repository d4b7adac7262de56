"""`greenroom record`: write this machine down, for a bug report or a test."""

from __future__ import annotations

from pathlib import Path

import click

from greenroom.probes.host import LocalHost
from greenroom.probes.recording import save
from greenroom.runner.profiles import PROFILES
from greenroom.runner.record import record


@click.command("record")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--profile", type=click.Choice(list(PROFILES)), default="quick", show_default=True)
@click.option("--anonymise", is_flag=True, help="Replace serials, UUIDs, addresses and host names.")
def command(folder: Path, profile: str, anonymise: bool) -> int:
    """Ask this machine all that the checks ask, and more, and write the answers into FOLDER.

    Nothing is changed and no load is put on it. `greenroom check --replay FOLDER` plays it back.
    """
    tape = record(LocalHost(), profile=profile, anonymise=anonymise)
    path = save(tape, folder)
    count = len(tape.files) + len(tape.commands)
    print(
        f"{path}: {len(tape.files)} files, {len(tape.commands)} commands, {len(tape.unavailable)} unavailable"
    )
    if not anonymise:
        print("it holds serials, addresses and host names: --anonymise replaces them")
    return 0 if count else 3
