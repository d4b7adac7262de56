"""`greenroom install slurm`: what Slurm needs so that the gate fails closed, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from rich.text import Text

from greenroom.cli.failure import Misconfigured
from greenroom.cli.session import json_option, print_json
from greenroom.cli.tables import table
from greenroom.model.words import Exit
from greenroom.parsers.slurm_conf import SlurmConf, parse

SNIPPET = """\
# slurm.conf: what Greenroom needs. Nodes are born held, so that no job starts before the first check.
NodeName=DEFAULT State=DRAIN Reason="greenroom: born held"   # before the NodeName lines
Prolog=/etc/greenroom/prolog                  # deploy/slurm/prolog
PrologFlags=Alloc
SchedulerParameters=nohold_on_prolog_fail     # add to what is there: a refused job starts elsewhere
RebootProgram=/sbin/reboot
# only with power saving: it clears drains
SuspendExcStates=DRAIN,MAINTENANCE,RESERVED   # 23.02 and later; before: SuspendExcNodes
# dynamic nodes: slurmd -Z --conf "... State=DRAIN"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One thing Slurm needs."""

    what: str
    ok: bool
    seen: str
    need: str
    """What to write, and why."""


@click.group()
def command() -> None:
    """What a scheduler needs to work with Greenroom, and what is missing."""


@command.command("slurm")
@click.option(
    "--check", "only_check", is_flag=True, help="Say what is there and what is missing; change nothing."
)
@click.option(
    "--conf",
    type=click.Path(path_type=Path),
    envvar="SLURM_CONF",
    default="/etc/slurm/slurm.conf",
    show_default=True,
)
@json_option
def slurm(only_check: bool, conf: Path, as_json: bool) -> int:
    """Print the lines slurm.conf needs; with --check, compare them with what it says."""
    if not only_check:
        print(SNIPPET, end="")
        return 0
    points = list(look(_read(conf)))
    if as_json:
        print_json(points)
    else:
        rows = [
            (
                point.what,
                Text("there", style="green") if point.ok else Text("missing", style="red"),
                point.seen,
                "" if point.ok else point.need,
            )
            for point in points
        ]
        table("WHAT", "", "SEEN", "NEXT STEP", rows=rows, empty="")
        if missing := sum(not point.ok for point in points):
            print(f"\n{missing} missing in {conf}: `greenroom install slurm` prints the lines")
    return Exit.FIT if all(point.ok for point in points) else Exit.UNFIT


def look(conf: SlurmConf) -> Iterator[Point]:
    """What a slurm.conf has and lacks, point by point."""
    free = [node["nodename"] for node in conf.nodes if not node.get("state", "").upper().startswith("DRAIN")]
    yield Point(
        what="nodes born held",
        ok=bool(conf.nodes) and not free,
        seen=f"not State=DRAIN: {', '.join(free)}"
        if free
        else f"{len(conf.nodes)} node line(s), State=DRAIN",
        need="State=DRAIN on the NodeName lines (slurmd --conf for dynamic nodes)",
    )
    prolog = conf.settings.get("prolog", "")
    yield Point(
        what="prolog",
        ok=asks(prolog),
        seen=prolog or "none",
        need="Prolog=/etc/greenroom/prolog (deploy/slurm/prolog), or call `greenroom ask` in yours",
    )
    flags = conf.words("prologflags")
    yield Point(
        what="prolog at allocation",
        ok=bool(flags & {"alloc", "contain"}),
        seen=",".join(sorted(flags)) or "none",
        need="PrologFlags=Alloc: else the prolog first runs when a step starts",
    )
    yield Point(
        what="refused jobs start elsewhere",
        ok="nohold_on_prolog_fail" in conf.words("schedulerparameters"),
        seen="nohold_on_prolog_fail"
        if "nohold_on_prolog_fail" in conf.words("schedulerparameters")
        else "held",
        need="SchedulerParameters=...,nohold_on_prolog_fail: else a refused job stays held",
    )
    yield from _power(conf)
    yield Point(
        what="reboot",
        ok=bool(conf.settings.get("rebootprogram")),
        seen=conf.settings.get("rebootprogram", "none"),
        need="RebootProgram=/sbin/reboot, or another provider for reboots in greenroom.toml",
    )
    root = conf.settings.get("disablerootjobs", "no").lower()
    yield Point(
        what="root may run jobs",
        ok=root not in ("yes", "true", "1"),
        seen=f"DisableRootJobs={root}",
        need="DisableRootJobs=NO: checks run as root's jobs",
    )


def _power(conf: SlurmConf) -> Iterator[Point]:
    if "suspendprogram" not in conf.settings:
        return
    states = conf.words("suspendexcstates")
    nodes = conf.settings.get("suspendexcnodes", "")
    yield Point(
        what="power saving spares held nodes",
        ok="drain" in states or bool(nodes),
        seen=",".join(sorted(states)) or nodes or "none",
        need="SuspendExcStates=DRAIN,MAINTENANCE,RESERVED (23.02+) or SuspendExcNodes: it clears drains",
    )


def asks(prolog: str) -> bool:
    """Whether one of the prolog's files asks Greenroom."""
    files = [
        Path(one) for name in prolog.split(",") if name for one in Path("/").glob(name.strip().lstrip("/"))
    ]
    for file in files:
        try:
            if "greenroom" in file.read_text(errors="replace"):
                return True
        except OSError:
            continue
    return False


def _read(path: Path) -> SlurmConf:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        first = parse(text)
        for name in first.includes:
            text += "\n" + (path.parent / name).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise Misconfigured(
            f"{error.filename or path}: {error.strerror}; name the file with --conf"
        ) from error
    return parse(text)
