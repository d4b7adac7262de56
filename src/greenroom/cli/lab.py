"""`greenroom lab`: a real Slurm on this machine, with made-up machines and stand-in GPUs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import click

DEFAULT_DIR = Path("/tmp/greenroom-lab")  # noqa: S108 - a demo of one user, who can name another place
START_S = 90.0
_dir = click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    default=DEFAULT_DIR,
    show_default=True,
    help="The lab's directory; users' jobs must be able to get through to it.",
)


@click.group()
def command() -> None:
    """A real cluster on this machine with stand-in GPUs."""


@command.command("up")
@_dir
@click.option("--nodes", type=click.IntRange(1, 64), default=4, show_default=True, help="Nodes at the start.")
@click.option("--late", type=click.IntRange(0, 64), default=3, show_default=True, help="Nodes to join later.")
@click.option("--fault", multiple=True, metavar="NODE=FAULT", help="E.g. gpu-02=ecc; more than once.")
@click.option("--gpus", type=click.IntRange(0, 16), default=8, show_default=True, help="GPUs of a node.")
@click.option("--port", type=int, default=0, help="The controller's; default: a free one.")
@click.option("--foreground", is_flag=True, help="Stay, and end the lab when stopped.")
def up(
    folder: Path, nodes: int, late: int, fault: tuple[str, ...], gpus: int, port: int, foreground: bool
) -> int:
    """Start Slurm, the nodes and the controller."""
    folder = folder.absolute()
    if _supervisor(folder):
        raise click.UsageError(f"a lab is up in {folder}; greenroom lab down --dir {folder}")
    faults = _faults(fault, _names(nodes + late))
    if foreground:
        return _serve(folder, nodes=nodes, late=late, faults=faults, gpus=gpus, port=port)
    ready = folder / "up.json"
    folder.mkdir(parents=True, exist_ok=True)
    ready.unlink(missing_ok=True)
    argv = [sys.executable, "-m", "greenroom.cli.main", "lab", "up", "--foreground", f"--dir={folder}"]
    argv += [f"--nodes={nodes}", f"--late={late}", f"--gpus={gpus}", f"--port={port}"]
    argv += [f"--fault={one}" for one in fault]
    with (folder / "lab.out").open("ab") as log:
        child = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    from greenroom.lab.processes import wait_for

    wait_for(lambda: ready.exists() or child.poll() is not None, START_S)
    if not ready.exists():
        child.terminate()
        last = (folder / "lab.out").read_text(errors="replace").strip().splitlines()[-1:]
        print(f"greenroom: the lab did not start: {' '.join(last)} (see {folder}/lab.out)", file=sys.stderr)
        return 70
    print(ready.read_text())
    return 0


@command.command("down")
@_dir
def down(folder: Path) -> int:
    """End the lab and everything it started."""
    from greenroom.lab.processes import end_recorded, started_at, wait_for

    pid = _supervisor(folder)
    if pid:
        started = started_at(pid)
        os.kill(pid, signal.SIGTERM)
        wait_for(lambda: started_at(pid) != started, 60)
    left = end_recorded(folder / "pids.json")
    (folder / "up.json").unlink(missing_ok=True)
    if not pid and not left:
        print(f"no lab is up in {folder}")
    return 0


@command.command("join")
@click.argument("node")
@_dir
def join(node: str, folder: Path) -> int:
    """A late node arrives."""
    from greenroom.lab.requests import ask

    if not _supervisor(folder):
        raise click.UsageError(f"no lab is up in {folder}")
    ask(folder, node, "add")
    return 0


@command.command("replace")
@_dir
def replace(folder: Path) -> int:
    """A replacement provider for the controller: JSON in, JSON out."""
    from greenroom.lab.gpus import LabError
    from greenroom.lab.requests import answer_provider

    try:
        print(json.dumps(answer_provider(folder, json.load(sys.stdin))))
    except (LabError, ValueError, AttributeError) as error:
        raise click.UsageError(f"standard input: {error}") from error
    return 0


@command.command("story")
@click.option(
    "--dir", "folder", type=click.Path(path_type=Path), help="Keep everything here; default: nothing."
)
def story(folder: Path | None) -> int:
    """The main job, from the first node to the last; exit code 0 only if it came out right."""
    from greenroom.lab.story import play

    return play(folder)


def _serve(folder: Path, *, nodes: int, late: int, faults: dict[str, list[str]], gpus: int, port: int) -> int:
    """The lab's own process: all daemons are its children."""
    import threading

    from greenroom.lab.cluster import Cluster
    from greenroom.lab.control import Controller
    from greenroom.lab.gpus import LabError
    from greenroom.lab.processes import started_at

    # Not a blocked signal: the daemons would inherit that and could not be ended.
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    names = _names(nodes + late)
    controller = Controller(folder, port=port)
    cluster = Cluster(
        folder,
        nodes=names[:nodes],
        late=names[nodes:],
        faults=faults,
        gpus=gpus,
        controller_url=controller.url,
    )
    try:
        with cluster:
            controller.start(cluster)
            about = {
                "pid": os.getpid(),
                "started": started_at(os.getpid()),
                "controller": controller.url,
                "SLURM_CONF": str(cluster.conf),
                "late": names[nodes:],
            }
            (folder / "up.json").write_text(json.dumps(about, indent=1))
            stop.wait()
    except LabError as error:
        print(f"greenroom: {error}", file=sys.stderr)
        return 70
    (folder / "up.json").unlink(missing_ok=True)
    return 0


def _names(count: int) -> list[str]:
    return [f"gpu-{index:02d}" for index in range(1, count + 1)]


def _faults(texts: tuple[str, ...], names: list[str]) -> dict[str, list[str]]:
    from greenroom.lab.gpus import FAULTS

    faults: dict[str, list[str]] = {}
    for text in texts:
        node, _, fault = text.partition("=")
        if node not in names or fault.partition(":")[0] not in FAULTS:
            known = f"{names[0]}..{names[-1]} = {', '.join(FAULTS)}"
            raise click.UsageError(f"--fault {text!r}: expected NODE=FAULT of {known}")
        faults.setdefault(node, []).append(fault)
    return faults


def _supervisor(folder: Path) -> int:
    """Pid of the lab's process, proved by its start time; 0 if no lab is up."""
    from greenroom.lab.processes import started_at

    try:
        about = json.loads((folder / "up.json").read_text())
        pid, started = int(about["pid"]), int(about["started"])
    except (OSError, ValueError, KeyError):
        return 0
    return pid if started and started_at(pid) == started else 0
