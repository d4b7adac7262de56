"""`greenroom fabric`: test nodes with each other, and name the culprit."""

from __future__ import annotations

import json
import os
import sys
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
    from greenroom.runner.fabric import Way
    from greenroom.runner.training import Trained

MIB = 1 << 20
WAIT_LOOK_S = 10.0
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
@click.option(
    "--witnesses",
    default="",
    help="Nodes that are known to be well, as partners only; with Slurm also `idle`: who is idle in service.",
)
@click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(0, 86400),
    default=0.0,
    help="So long, s, a lone node waits for an idle partner before it is tested alone.",
)
@click.option(
    "--topology",
    type=click.Path(exists=True, path_type=Path),
    help='topology.conf, `kubectl get nodes -o json`, or JSON {"node": "rack"}; default with slurm: its own.',
)
@click.option("--rack-label", default="", help="Label of Kubernetes nodes that names the rack.")
@click.option(
    "--group",
    type=click.IntRange(2, 128),
    default=2,
    show_default=True,
    help="Nodes of a first test; groups that fail are halved, down to pairs.",
)
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
@click.option("--reservation", default="", help="Of Slurm, in which the nodes are held.")
@click.option("--seed", type=int, default=None, help="Of the pairing; default: another one each time.")
@click.option("--save", type=click.Path(path_type=Path), help="Write all trials here, as evidence (JSON).")
@json_option
def run(**options: Any) -> int:  # noqa: ANN401 - click's options by name
    """Disjoint random pairs, then each that has not passed with two further partners that have.

    Exit code 0: all are well; 1: a culprit is named, or a shared cause; 3: something could not be told.
    """  # fmt: skip
    from greenroom.probes.host import LocalHost
    from greenroom.runner.campaign import Wish
    from greenroom.runner.fabric import PairTest, run_campaign
    from greenroom.runner.meeting import Limits
    from greenroom.runner.pairs import Rules

    nodes = tuple(hosts(options["nodelist"]))
    witnesses = _witnesses(options, nodes)
    wish = Wish(
        nodes=nodes,
        witnesses=tuple(one for one in witnesses if one not in nodes),
        racks=_racks(options, nodes),
        rails=tuple(word for word in options["rails"].split(",") if word) or ("",),
        rules=Rules(shared_above=options["shared_above"], group=options["group"]),
    )
    spec = {
        "sizes_bytes": [options["size_mib"] * MIB],
        "seconds": options["seconds"],
        "interface": options["interface"],
        "network_only": True,
    }
    test = PairTest(
        way=_way(options),
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


@command.command("train")
@click.option("-w", "--nodes", "nodelist", required=True, help="Nodes to train on, in Slurm notation.")
@click.option(
    "--via", type=click.Choice(WAYS), default="slurm", show_default=True, help="How they are reached."
)
@click.option("--reservation", default="", help="Of Slurm, in which the nodes are held.")
@click.option("--ranks", type=click.IntRange(1, 64), default=1, show_default=True, help="On each node.")
@click.option("--way", type=click.Choice(("ddp", "fsdp")), default="ddp", show_default=True)
@click.option("--steps", type=click.IntRange(2, 10_000), default=20, show_default=True)
@click.option("--interface", default="", help="Network interface of the ranks' sockets.")
@click.option(
    "--slower-percent",
    type=click.FloatRange(1),
    default=20.0,
    show_default=True,
    help="So much slower than is usual is a straggler. It is named, and fails nobody.",
)
@click.option("--deadline", type=click.FloatRange(5), default=180.0, show_default=True, help="Of all, s.")
@click.option("--python", default="", help="Interpreter on the nodes; default: this one.")
@json_option
def train(**options: Any) -> int:  # noqa: ANN401 - click's options by name
    """Train a tiny transformer on all nodes at once: losses, weights and gradients must be right.

    Exit code 0: they are, also if a node is slow; 1: they are not; 3: it could not be told.
    """
    from greenroom.probes.host import LocalHost
    from greenroom.runner.fabric import PairTest
    from greenroom.runner.training import train as run_training

    nodes = hosts(options["nodelist"])
    if len(nodes) * options["ranks"] < 2:
        raise click.UsageError("one rank trains with nobody: give more nodes, or --ranks")
    if options["via"] == "slurm" and options["ranks"] > 1 and not os.environ.get("SLURM_JOB_ID"):
        raise click.UsageError("--ranks: start it inside an allocation, `salloc --exclusive -w NODES`")
    spec = {"way": options["way"], "steps": options["steps"], "interface": options["interface"]}
    test = PairTest(
        way=_way(options),
        workload="training",
        spec=spec,
        deadline_s=options["deadline"],
        python=options["python"],
    )
    with stoppable() as stop:
        trained = run_training(
            nodes,
            test,
            LocalHost(stop),
            stop,
            ranks=options["ranks"],
            slower_percent=options["slower_percent"],
        )
    if options["as_json"]:
        print_json({"schema": 1, "training": trained})
    else:
        _show_training(trained)
    return {Outcome.PASS: Exit.FIT, Outcome.FAIL: Exit.UNFIT}.get(trained.outcome, Exit.UNDECIDED)


def _way(options: dict[str, Any]) -> Way:
    from greenroom.runner.fabric import WAYS as WAY

    way = WAY[options["via"]]
    if not options["reservation"]:
        return way
    if options["via"] != "slurm":
        raise click.UsageError("--reservation: only Slurm has them, --via slurm")
    return way.with_words(f"--reservation={options['reservation']}")


def _witnesses(options: dict[str, Any], nodes: tuple[str, ...]) -> tuple[str, ...]:
    """Partners that are known to be well; with ``idle`` those that Slurm would give work to now."""
    from greenroom.probes.host import LocalHost, ProbeUnavailable
    from greenroom.runner.fabric import idle_nodes

    if options["witnesses"] != "idle":
        return tuple(hosts(options["witnesses"])) if options["witnesses"] else ()
    if options["via"] != "slurm":
        raise click.UsageError("--witnesses idle: only Slurm knows who is, --via slurm; else name them")
    until = time.monotonic() + options["wait_s"]
    while True:
        try:
            found = tuple(node for node in idle_nodes(LocalHost()) if node not in nodes)
        except ProbeUnavailable as error:
            raise click.ClickException(str(error)) from error
        if found or len(nodes) > 1 or time.monotonic() >= until:
            return found
        print(f"waiting for an idle partner of {nodes[0]}", file=sys.stderr, flush=True)
        time.sleep(min(WAIT_LOOK_S, max(0.0, until - time.monotonic())))


def _racks(options: dict[str, Any], nodes: tuple[str, ...]) -> dict[str, str]:
    """Node -> rack, by the file; with Slurm by what it says itself, if that tells the nodes apart."""
    from greenroom.parsers.topology import TopologyUnreadable, racks
    from greenroom.probes.host import LocalHost, ProbeUnavailable

    path: Path | None = options["topology"]
    if path is not None:
        try:
            return racks(path.read_text(encoding="utf-8"), label=options["rack_label"])
        except (TopologyUnreadable, UnicodeDecodeError) as error:
            raise click.UsageError(f"{path}: {error}") from error
    if options["via"] != "slurm":
        return {}
    try:
        found = racks(LocalHost().run(["scontrol", "show", "topology"], timeout_s=10).stdout)
    except (TopologyUnreadable, ProbeUnavailable):
        return {}  # a cluster without a topology has nothing to say
    return found if len({found.get(node) for node in nodes}) > 1 else {}


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


def _show_training(trained: Trained) -> None:
    print(f"{trained.outcome.value}{f': {plain(trained.why)}' if trained.why else ''}")
    for node in trained.culprits:
        print(f"culprit: {node}")
    for one in trained.stragglers:
        much = f"{one.own_ms:.1f} ms a step by itself, usual are {one.usual_ms:.1f}"
        print(f"straggler: {one.node} (rank {one.rank}): {much}")
    if trained.step_ms is not None:
        print(f"{len(trained.ranks)} ranks, {trained.step_ms:.1f} ms a step")
