"""The root command: a click group that imports a command only when it is named."""

from __future__ import annotations

from typing import Any

import click

from greenroom import __version__
from greenroom.cli.main import COMMANDS, load


class LazyGroup(click.Group):
    """Lists the commands from the table of names; imports one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002, D102 - click's signature
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002, D102
        if cmd_name == "ask":
            return click.Command("ask", short_help=COMMANDS["ask"][1])
        return load(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Help from the table, so that `--help` imports no command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in sorted(COMMANDS.items())])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:  # noqa: ANN401 - click's own
        """As click does, but an unknown name comes with the nearest known one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "; see greenroom --help"
            raise click.UsageError(f"no command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)


def root() -> click.Group:
    """The `greenroom` command. Shell completion: ``eval "$(_GREENROOM_COMPLETE=bash_source greenroom)"``."""
    group = LazyGroup("greenroom", help="A health gate for GPU clusters.", no_args_is_help=True)
    return click.version_option(__version__, prog_name="greenroom")(group)
