"""`greenroom sim`: the algorithms on made-up clusters."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import click

from greenroom.cli.session import json_option, print_json
from greenroom.cli.tables import table

if TYPE_CHECKING:
    from greenroom.sim.blame import Row

GRID = tuple(product((16, 64, 256, 1024), (1, 4, 8), (0.0, 0.02, 0.1)))
COLUMNS = ("NODES", "BAD", "FLAKE", "METHOD", "FALSE BLAMES", "MISSES", "RUNS", "ROUNDS", "CAUSE NAMED")
LARGE = 300
"""Pair runs of all pairs grow with the square: above so many nodes the two dear methods are left out."""
DEAR = ("15 shuffles", "all pairs")


@click.group()
def command() -> None:
    """Algorithms on made-up clusters."""


@command.command("blame")
@click.option("--nodes", type=click.IntRange(2, 4096), default=64, show_default=True)
@click.option("--bad", type=click.IntRange(0), default=4, show_default=True, help="Bad nodes.")
@click.option(
    "--flake",
    type=click.FloatRange(0, 1),
    default=0.02,
    show_default=True,
    help="Part of good tests that fail.",
)
@click.option("--trials", type=click.IntRange(1), default=500, show_default=True, help="Campaigns a method.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--grid", is_flag=True, help="16 to 1024 nodes, 1 to 8 bad, 0 to 10 % flakes.")
@click.option("--all-methods", is_flag=True, help="Dear methods on large clusters, too.")
@json_option
def blame(
    nodes: int, bad: int, flake: float, trials: int, seed: int, grid: bool, all_methods: bool, as_json: bool
) -> int:
    """How often each way to find bad nodes blames good ones, and what it costs.

    Below the methods: ours where a path, an adapter or a rail's switch is broken beside the bad nodes.
    """
    from greenroom.sim.blame import compare, structural
    from greenroom.sim.fabric import METHODS

    if bad > nodes:
        raise click.UsageError(f"--bad {bad}: expected at most --nodes, {nodes}")
    rows: list[Row] = []
    for count, sick, rate in GRID if grid else ((nodes, bad, flake),):
        cheap = tuple(name for name in METHODS if all_methods or count <= LARGE or name not in DEAR)
        rows += compare(nodes=count, bad=sick, flake=rate, trials=trials, seed=seed, methods=cheap)
        if not grid and count > sick:
            rows += structural(nodes=count, bad=sick, flake=rate, trials=trials, seed=seed)
    if as_json:
        print_json({"schema": 1, "seed": seed, "rows": rows})
        return 0
    table(*COLUMNS, rows=[_cells(row) for row in rows], empty="")
    print(f"False blames and misses a campaign, of {trials} campaigns each; runs and rounds: the median.")
    return 0


def _cells(row: Row) -> tuple[str, ...]:
    return (
        str(row.nodes),
        str(row.bad),
        f"{row.flake:.0%}",
        row.method,
        f"{row.false_blames:.4f}",
        f"{row.misses:.4f}",
        f"{row.runs:.0f}",
        f"{row.rounds:.0f}",
        f"{row.named:.1%}" if row.causes else "",
    )
