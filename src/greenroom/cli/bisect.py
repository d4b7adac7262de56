"""`greenroom bisect`: the smallest set of nodes on which a command fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from greenroom.cli.session import hosts, json_option, print_json, stoppable
from greenroom.cli.tables import plain, table
from greenroom.model.jsonish import to_json
from greenroom.model.words import Exit

if TYPE_CHECKING:
    from greenroom.runner.bisect import Bisection
    from greenroom.runner.together import End


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("-w", "--nodes", "nodelist", required=True, help="Nodes on which it fails, in Slurm notation.")
@click.option(
    "--via",
    type=click.Choice(("slurm", "ssh", "netns", "local")),
    default="slurm",
    show_default=True,
    help="A step of srun; a process a node; or one process here that reaches the nodes itself.",
)
@click.option("--reservation", default="", help="Of Slurm, in which the nodes are held.")
@click.option("--at-least", type=click.IntRange(1), default=1, show_default=True, help="Nodes it needs.")
@click.option(
    "--repeat",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    help="Runs that must all pass, for what fails now and then.",
)
@click.option(
    "--deadline",
    type=click.FloatRange(0.1),
    default=600.0,
    show_default=True,
    help="A run that takes longer, s, hangs: it has failed.",
)
@click.option("--max-runs", type=click.IntRange(1), default=200, show_default=True)
@click.option("--time-limit", type=click.FloatRange(1), default=86400.0, show_default=True, help="Of all, s.")
@click.option("--save", type=click.Path(path_type=Path), help="Write all runs here, as evidence (JSON).")
@json_option
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
def command(**options: Any) -> int:  # noqa: ANN401 - click's options by name
    """Find the smallest set of nodes on which COMMAND fails or hangs.

    It is run on all nodes, then on ever smaller sets; each member of the smallest is replaced by a node
    that is well before it is blamed. In COMMAND, {nodes}, {first} and {count} are replaced; the environment
    has GREENROOM_NODES, GREENROOM_FIRST, GREENROOM_COUNT and, a process a node, GREENROOM_RANK.

    Exit code 0: it passes on all; 1: culprits are named, or a shared cause; 3: it could not be told.
    """
    from greenroom.runner.bisect import Bisection
    from greenroom.runner.together import Job, bisect

    if options["reservation"] and options["via"] != "slurm":
        raise click.UsageError("--reservation: only Slurm has them, --via slurm")
    nodes = hosts(options["nodelist"])
    try:
        search = Bisection(nodes, at_least=options["at_least"])
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    job = Job(
        words=tuple(options["words"]),
        via=options["via"],
        reservation=options["reservation"],
        deadline_s=options["deadline"],
        repeat=options["repeat"],
    )
    ends: list[End] = []

    def told(end: End) -> None:
        ends.append(end)
        if not options["as_json"]:
            _tell(len(ends), end)

    with stoppable() as stop:
        ended = bisect(
            search,
            job,
            max_runs=options["max_runs"],
            time_limit_s=options["time_limit"],
            told=told,
            stop=stop,
        )
    document = {
        "schema": 1,
        "command": options["words"],
        "culprits": search.found,
        "smallest_failing": search.smallest,
        "not_blamed": search.left,
        "ended_early": ended,
        "runs": ends,
    }
    if options["save"]:
        options["save"].write_text(json.dumps(to_json(document), indent=1), encoding="utf-8")
    if options["as_json"]:
        print_json(document)
    else:
        _show(search, ended, len(ends))
    if search.found:
        return Exit.UNFIT
    return Exit.UNDECIDED if ended else Exit.FIT


def _tell(number: int, end: End) -> None:
    why = f": {plain(end.why)}" if end.why else ""
    names = ",".join(end.nodes)
    print(
        f"run {number}: {len(end.nodes)} nodes ({names}) {end.outcome.value} in {end.seconds:g} s{why}",
        flush=True,
    )


def _show(search: Bisection, ended: str, runs: int) -> None:
    rows = [
        (one.kind, Text(", ".join(one.nodes) or "-", style="red"), ", ".join(one.ran), one.reason)
        for one in search.found
    ]
    print()
    if rows:
        table("CULPRIT", "NODES", "FAILED ON", "REASON", rows=rows, empty="")
    if ended:
        print(f"ended before all was known: {plain(ended)}")
        if search.smallest:
            print(f"smallest set that failed: {', '.join(search.smallest)}")
    elif not search.found:
        print(
            f"it passes on all {len(search.nodes)} nodes: nothing to find (--repeat if it fails now and then)"
        )
    print(f"{runs} runs, {len(search.left)} of {len(search.nodes)} nodes not blamed")
