"""`greenroom expect`: what a healthy machine looks like: learned, shown, compared, checked for mistakes."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import click

from greenroom.checks.expectations import Expected, ExpectedWrong, Threshold, load_expected, model_files
from greenroom.cli.reports import has_looked, of_files, of_store
from greenroom.cli.session import config_option, json_option, print_json
from greenroom.cli.tables import table
from greenroom.model.results import Report
from greenroom.model.words import Exit
from greenroom.runner.learning import MIN_NODES, Lesson, TooFew, learn, readings
from greenroom.runner.lint import lint

FACTS = "configuration.drift"


@click.group()
def command() -> None:
    """What a healthy machine looks like: learn it from nodes, compare, look for mistakes."""


@command.command("learn")
@click.argument("sources", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--fleet", is_flag=True, help="From the last reports of the nodes the controller knows.")
@click.option("--gpu", default="", help="Only nodes whose GPUs have this in their name.")
@click.option("--min-nodes", type=click.IntRange(min=3), default=MIN_NODES, show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write here; default: print.")
@config_option
def learn_command(
    *, sources: tuple[Path, ...], fleet: bool, gpu: str, min_nodes: int, output: Path | None, path: Path
) -> int:
    """Write the expectations for one kind of machine from reports of healthy nodes.

    SOURCES are reports of `greenroom check --profile light --json` (or full), folders of them, or
    recordings. Nodes that are not fit do not count. It refuses when too few are left, when they are of
    several kinds, and each value on which they do not agree.
    """
    if not sources and not fleet:
        raise click.UsageError("give reports, folders of them or recordings, or --fleet")
    reports = of_store(path, has_looked(FACTS)) if fleet else of_files(sources)
    kinds = _kinds(reports, gpu)
    if len(kinds) != 1:
        told = "; ".join(f"{name or 'no GPU'}: {len(group)} nodes" for name, group in kinds.items())
        raise click.UsageError(
            f"expected reports of one kind of GPU, got {told or 'none'}; choose with --gpu"
        )
    ((name, group),) = kinds.items()
    day = time.strftime("%Y-%m-%d", time.gmtime())
    try:
        lesson = learn(group, load_expected(), day=day, min_nodes=min_nodes)
    except TooFew as error:
        raise click.UsageError(f"{error}; check more nodes, or lower --min-nodes and distrust it") from error
    text = render(lesson, name)
    if output:
        output.write_text(text, encoding="utf-8")
        print(f"{len(lesson.learned)} expectations from {len(lesson.nodes)} nodes in {output}")
    else:
        print(text, end="")
    return Exit.FIT


def render(lesson: Lesson, gpu: str) -> str:
    """The file as TOML, with all that was refused and why as comments."""
    groups: dict[str, list[str]] = defaultdict(list)
    for one in lesson.learned:
        group, _, field = one.threshold.name.partition(".")
        groups[group].append(f"{field} = {{ {', '.join(_fields(one.threshold))} }}")
        if one.odd:
            groups[group].append(f"# otherwise on {', '.join(one.odd[:8])}: look at them first")
    lines = [f"# Learned from {len(lesson.nodes)} healthy nodes: {', '.join(lesson.nodes)}"]
    lines += [f"# left out {node}: {why}" for node, why in lesson.left_out.items()]
    lines += [f"# not said {name}: {why}" for name, why in lesson.refused.items()]
    if gpu:
        lines += ["", "[machine]", f"match = [{json.dumps(gpu)}]"]
    for group, rows in groups.items():
        lines += ["", f"[{group}]", *rows]
    return "\n".join([*lines, ""])


def _fields(row: Threshold) -> Iterable[str]:
    """A JSON text, number, list or boolean is the same in TOML."""
    yield f"value = {json.dumps(row.value, ensure_ascii=False)}"
    if row.typical not in (None, row.value):
        yield f"typical = {json.dumps(row.typical, ensure_ascii=False)}"
    yield f"method = {json.dumps(row.method)}"
    yield f"nodes = {row.nodes}"
    yield f"source = {json.dumps(row.source)}"


def _kinds(reports: Iterable[Report], gpu: str) -> dict[str, list[Report]]:
    """GPU model (empty: none) -> reports; a node with several models is named by all of them."""
    kinds: dict[str, list[Report]] = defaultdict(list)
    for report in reports:
        names = {
            str(value)
            for name, value in readings(report)
            if name.startswith(f"{FACTS}:gpu.") and name.endswith(".name")
        }
        model = " and ".join(sorted(names))
        if gpu.lower() in model.lower():
            kinds[model].append(report)
    return kinds


@command.command("show")
@click.option("--expected", type=click.Path(path_type=Path, exists=True), help="The site's file or folder.")
@click.option("--gpu", default="", help="For GPUs of this name; default: for any machine.")
@json_option
def show_command(*, expected: Path | None, gpu: str, as_json: bool) -> int:
    """What is in force: each expectation with its source."""
    thresholds = load_expected(gpu_names=[gpu] if gpu else [], site_file=expected).thresholds
    if as_json:
        print_json({name: row for name, row in sorted(thresholds.items()) if row.value is not None})
        return Exit.FIT
    rows = [
        (name, _said(row), row.meaning, row.source)
        for name, row in sorted(thresholds.items())
        if row.value is not None
    ]
    table("EXPECTATION", "VALUE", "MEANING", "SOURCE", rows=rows, empty="nothing is expected")
    return Exit.FIT


@command.command("diff")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path, exists=True))
@json_option
def diff_command(*, old: Path, new: Path, as_json: bool) -> int:
    """In what two files differ. OLD may also be the name of a model that comes with Greenroom (h100).

    Exit code 1: they differ.
    """
    before, after = _read(_shipped(old)), _read(new)
    changed = {
        name: (before.thresholds[name], after.thresholds[name])
        for name in sorted(before.thresholds)
        if before.thresholds[name].value != after.thresholds[name].value
    }
    if as_json:
        print_json({name: {"old": one.value, "new": other.value} for name, (one, other) in changed.items()})
    else:
        rows = [(name, _said(one), _said(other), other.source) for name, (one, other) in changed.items()]
        table("EXPECTATION", "OLD", "NEW", "SOURCE OF THE NEW", rows=rows, empty="the files expect the same")
    return Exit.UNFIT if changed else Exit.FIT


@command.command("lint")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
def lint_command(files: tuple[Path, ...]) -> int:
    """Look for mistakes: unknown names, wrong kinds, values without a source, limits on the wrong side.

    Exit code 1: there are some.
    """
    problems = [problem for path in files for problem in lint(path)]
    print(*problems or [f"{len(files)} files: nothing to complain of"], sep="\n")
    return Exit.UNFIT if problems else Exit.FIT


def _read(path: Path) -> Expected:
    try:
        return load_expected(site_file=path, match=False)
    except ExpectedWrong as error:
        raise click.UsageError(str(error)) from error


def _shipped(path: Path) -> Path:
    known = {one.stem: one for one in model_files()}
    if path.exists() or str(path) not in known:
        if not path.exists():
            raise click.UsageError(f"{path}: no such file, and no model of {', '.join(known)}")
        return path
    return known[str(path)]


def _said(row: Threshold) -> str:
    return "-" if row.value is None else row.text
