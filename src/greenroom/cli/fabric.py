"""`greenroom fabric`: test nodes with each other, and name the culprit."""

from __future__ import annotations

import json
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from greenroom.cli.session import hosts, json_option, print_json, stoppable
from greenroom.cli.tables import plain, table
from greenroom.model.jsonish import to_json
from greenroom.model.words import Exit, Outcome

if TYPE_CHECKING:
    from greenroom.model.fabric import Findings, Trial

MIB = 1 << 20
WAYS = ("slurm", "ssh", "netns")
COLOURS = {Outcome.PASS: "green", Outcome.FAIL: "red", Outcome.UNABLE: "magenta"}


@click.group()
def command() -> None:
    """Test nodes with each other, and name the culprit."""


@command.command("run")
@click.option("-w", "--nodes", "nodelist", required=True, help="Nodes to test, in Slurm notation.")
@click.option(
    "--via", type=click.Choice(WAYS), default="slurm", show_default=True, help="How they are reached."
)
@click.option("--witnesses", default="", help="Idle nodes that are known to be well, as partners only.")
@click.option("--racks", type=click.Path(exists=True, path_type=Path), help='JSON: {"node": "rack"}.')
@click.option("--rails", default="", help="Adapters to force one by one, e.g. mlx5_0,mlx5_1.")
@click.option("--interface", default="", help="Network interface of the ranks' sockets.")
@click.option("--size-mib", type=click.IntRange(1, 16384), default=16, show_default=True, help="Message.")
@click.option("--seconds", type=click.FloatRange(0.1, 600), default=3.0, show_default=True, help="A pair.")
@click.option("--min-gb-per-s", type=click.FloatRange(0), default=0.0, help="Least busbw; 0: no limit.")
@click.option(
    "--shared-above",
    type=click.FloatRange(0, 1),
    default=0.3,
    show_default=True,
    help="Part of the nodes from which their failing has one cause.",
)
@click.option("--deadline", type=click.FloatRange(5), default=120.0, show_default=True, help="A pair, s.")
@click.option("--python", default="", help="Interpreter on the nodes; default: this one.")
@click.option("--seed", type=int, default=None, help="Of the pairing; default: another one each time.")
@click.option("--save", type=click.Path(path_type=Path), help="Write all trials here, as evidence (JSON).")
@json_option
def run(**options: Any) -> int:  # noqa: ANN401 - click's options by name
    """Disjoint random pairs, then each that has not passed with two further partners that have.

    Exit code 0: all are well; 1: a culprit is named, or a shared cause; 3: something could not be told.
    """  # fmt: skip
    from greenroom.probes.host import LocalHost
    from greenroom.runner.campaign import Wish
    from greenroom.runner.fabric import WAYS as WAY
    from greenroom.runner.fabric import PairTest, run_campaign
    from greenroom.runner.meeting import Limits
    from greenroom.runner.pairs import Rules

    nodes = tuple(hosts(options["nodelist"]))
    witnesses = tuple(hosts(options["witnesses"])) if options["witnesses"] else ()
    wish = Wish(
        nodes=nodes,
        witnesses=tuple(one for one in witnesses if one not in nodes),
        racks=_racks(options["racks"]),
        rails=tuple(word for word in options["rails"].split(",") if word) or ("",),
        rules=Rules(shared_above=options["shared_above"]),
    )
    spec = {
        "sizes_bytes": [options["size_mib"] * MIB],
        "seconds": options["seconds"],
        "interface": options["interface"],
        "network_only": True,
    }
    test = PairTest(
        way=WAY[options["via"]],
        spec=spec,
        limits=Limits(busbw_gb_per_s=options["min_gb_per_s"]),
        deadline_s=options["deadline"],
        python=options["python"],
    )
    seed = options["seed"] if options["seed"] is not None else time.time_ns()
    as_json = options["as_json"]
    dice = Random(seed)  # noqa: S311 - to be repeatable
    started = time.time()
    told = (lambda _: None) if as_json else _tell
    with stoppable() as stop:
        trials, found = run_campaign(wish, test, LocalHost(stop), dice, told=told, stop=stop)
    document = {"schema": 1, "seed": seed, "started_at": started, "findings": found, "trials": trials}
    if options["save"]:
        options["save"].write_text(json.dumps(to_json(document), indent=1), encoding="utf-8")
    if as_json:
        print_json(document)
    else:
        _show(found)
    if found.blamed or found.shared:
        return Exit.UNFIT
    return Exit.UNDECIDED if found.undecided else Exit.FIT


def _racks(path: Path | None) -> dict[str, str]:
    if path is None:
        return {}
    try:
        racks = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise click.UsageError(f"{path}: no JSON: {error}") from error
    if not isinstance(racks, dict) or not all(isinstance(rack, str) for rack in racks.values()):
        raise click.UsageError(f'{path}: expected {{"node": "rack", ...}}')
    return racks


def _tell(trial: Trial) -> None:
    speed = trial.measured.get("busbw_gb_per_s")
    words = [f"round {trial.round}:", " + ".join(trial.nodes), trial.level, trial.rail, trial.outcome.value]
    words += [f"{speed:.3g} GB/s"] if isinstance(speed, float) else []
    print(
        plain(" ".join(word for word in words if word) + (f": {trial.why}" if trial.why else "")), flush=True
    )


def _show(found: Findings) -> None:
    rows = [
        (one.what, one.name, one.rail, Text(f"{one.confidence:.1%}", style="red"), one.reason)
        for one in found.blamed
    ]
    print()
    if rows:
        table("CULPRIT", "NAME", "OVER", "CONFIDENCE", "REASON", rows=rows, empty="")
    if found.shared:
        print(f"shared cause, no node is blamed: {found.shared}")
    for node, reason in found.undecided.items():
        print(f"undecided: {node}: {plain(reason)}")
    print(
        f"{len(found.cleared)} cleared, {len(found.blamed)} blamed, {len(found.undecided)} undecided;"
        f" {found.runs} tests in {found.rounds} rounds"
    )
