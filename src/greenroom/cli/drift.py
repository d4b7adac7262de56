"""`greenroom drift`: which nodes are set up otherwise than the others, or than a good one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from greenroom.checks.configuration import read_golden
from greenroom.cli.reports import has_looked, looked_of, of_files, of_store
from greenroom.cli.session import config_option, json_option, print_json
from greenroom.cli.tables import table
from greenroom.model.words import Exit
from greenroom.policy.drift import Drift, differences, drifts, majority
from greenroom.probes.host import LocalHost, ProbeUnavailable
from greenroom.runner.run import Wish, run_checks

CHECK = "configuration.drift"
Facts = dict[str, str]


@click.command()
@click.argument("sources", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--against", type=click.Path(path_type=Path, exists=True), help="Facts of a good machine.")
@click.option("--save", type=click.Path(path_type=Path), help="Write the facts of this machine here.")
@click.option("--fleet", is_flag=True, help="All nodes the controller knows, by their last reports.")
@config_option
@json_option
def command(
    *,
    sources: tuple[Path, ...],
    against: Path | None,
    save: Path | None,
    fleet: bool,
    path: Path,
    as_json: bool,
) -> int:
    """Compare how nodes are set up: versions, firmware, settings, parts.

    SOURCES are reports of `greenroom check --profile light --json`, folders of them, or recordings; none
    means this machine. With --against they are compared with a good machine (facts written by --save, a
    report or a recording), else with what most of them have. Exit code 1: something differs.
    """
    nodes = _nodes(sources, path, fleet=fleet)
    if save:
        if len(nodes) != 1:
            raise click.UsageError(f"--save: one machine is the good one, these are {len(nodes)}")
        save.write_text(json.dumps(*nodes.values(), indent=2) + "\n", encoding="utf-8")
        print(f"{sum(map(len, nodes.values()))} facts in {save}")
        return Exit.FIT
    if against:
        golden = _golden(against)
        found = {node: odd for node, facts in nodes.items() if (odd := differences(facts, golden))}
        split: dict[str, dict[str, int]] = {}
    elif len(nodes) == 1:
        raise click.UsageError(
            "one machine has nothing to differ from: give --against, --save or more machines"
        )
    else:
        found, split = drifts(nodes), {name: dict(one) for name, one in majority(nodes).split.items()}
    if as_json:
        print_json({"schema": 1, "nodes": len(nodes), "drift": found, "no_majority": split})
    else:
        _show(found, split, len(nodes))
    return Exit.UNFIT if found else Exit.FIT


def _nodes(sources: tuple[Path, ...], config: Path, *, fleet: bool) -> dict[str, Facts]:
    if fleet:
        reports = of_store(config, has_looked(CHECK))
    elif sources:
        reports = of_files(sources)
    else:
        name = os.uname().nodename.split(".")[0]
        reports = [run_checks(Wish(node=name, profile="light", only=(CHECK,)), LocalHost())]
    nodes = {report.node: looked_of(report, CHECK) for report in reports}
    blank = [node for node, facts in nodes.items() if not facts]
    if blank or not nodes:
        what = (
            f"{', '.join(blank[:5])}: the report has no facts" if blank else "no report of any node has facts"
        )
        raise click.UsageError(f"{what}; make one with `greenroom check --profile light --json`")
    return nodes


def _golden(path: Path) -> Facts:
    if path.is_file() and '"results"' not in path.read_text(encoding="utf-8", errors="replace"):
        try:
            return read_golden(LocalHost().read(str(path)), str(path))
        except ProbeUnavailable as error:
            raise click.UsageError(f"--against: {error}") from error
    (facts, *more) = _nodes((path,), path, fleet=False).values()
    if more:
        raise click.UsageError(f"--against {path}: expected one good machine, got {len(more) + 1}")
    return facts


def _show(found: dict[str, list[Drift]], split: dict[str, dict[str, int]], nodes: int) -> None:
    rows = [
        (node, one.fact, one.measured, one.expected, "" if one.share == 1.0 else f"{one.share:.0%}")
        for node, odd in found.items()
        for one in odd
    ]
    table(
        "NODE", "FACT", "IS", "SHOULD BE", "OF NODES", rows=rows, empty=f"{nodes} machines are set up alike"
    )
    for fact, values in split.items():
        told = ", ".join(f"{value} on {count}" for value, count in list(values.items())[:4])
        print(f"no majority: {fact}: {told}")
