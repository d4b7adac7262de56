"""``--faults``: the site's own word on faults."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from greenroom.faults import CatalogueWrong, overlay


def faults_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--faults``, also from GREENROOM_FAULTS: from here on the process goes by these files, too."""
    return click.option(
        "--faults",
        type=click.Path(path_type=Path),
        envvar="GREENROOM_FAULTS",
        multiple=True,
        expose_value=False,
        callback=_lay_over,
        help="TOML file with the site's own word on faults; may be given more than once.",
    )(function)


def _lay_over(_ctx: click.Context, _param: click.Parameter, files: tuple[Path, ...]) -> None:
    try:
        overlay(files)
    except CatalogueWrong as error:
        raise click.UsageError(f"--faults: {error}") from error
