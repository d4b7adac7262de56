"""`greenroom outliers`: nodes that are slow beside their like, or compute something else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from greenroom.cli.reports import of_files, of_store
from greenroom.cli.session import config_option, json_option, print_json
from greenroom.cli.tables import plain, table
from greenroom.model.words import Exit
from greenroom.policy.fleet import judge_fleet

if TYPE_CHECKING:
    from greenroom.model.results import CheckResult, Report
    from greenroom.policy.fleet import Judged


@click.command()
@click.argument("sources", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--fleet", is_flag=True, help="All nodes the controller knows, by their last stress.")
@config_option
@json_option
def command(*, sources: tuple[Path, ...], fleet: bool, path: Path, as_json: bool) -> int:
    """Compare what nodes reached under stress, and what they computed.

    SOURCES are reports of `greenroom check --profile full --json`, or folders of them. Ten nodes that were
    measured alike are needed to call one slow, three to call a result wrong. A slow node is named, not
    drained. Exit code 1: somebody is named; 3: nothing could be compared.
    """
    if bool(sources) == fleet:
        raise click.UsageError("give reports of nodes, or --fleet")
    nodes = _stress(of_store(path, _is_stress) if fleet else of_files(sources))
    judged = judge_fleet(nodes)
    if as_json:
        print_json({"schema": 1, "nodes": len(nodes), "judged": judged})
    else:
        _show(judged, len(nodes))
    if judged.outliers:
        return Exit.UNFIT
    return Exit.FIT if judged.compared else Exit.UNDECIDED


def _stress(reports: list[Report]) -> dict[str, dict[str, Any]]:
    return {
        report.node: {result.check: result.looked for result in report.results if _is_stress(result)}
        for report in reports
    }


def _is_stress(result: CheckResult) -> bool:
    return "comparable" in result.looked


def _show(judged: Judged, nodes: int) -> None:
    rows = [
        (
            Text(one.node, style="yellow" if one.z is not None else "red"),
            one.check,
            one.part,
            one.figure if one.z is not None else f"results in {one.figure}",
            one.measured,
            one.usual,
            f"{one.z:+.1f}" if one.z is not None else "-",
        )
        for one in judged.outliers
    ]
    empty = f"none of {nodes} nodes stands out" if judged.compared else "nothing was compared"
    table("NODE", "CHECK", "PART", "FIGURE", "MEASURED", "USUAL", "Z", rows=rows, empty=empty)
    for kind, count in judged.compared.items():
        print(plain(f"compared: {kind}: {count} nodes"))
    for kind, why in judged.not_compared.items():
        print(plain(f"speeds not compared: {kind}: {why}"))
