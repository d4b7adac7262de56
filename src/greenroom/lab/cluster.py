"""A real Slurm on loopback whose nodes are made-up machines, each in a mount namespace of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from greenroom.lab.gpus import LabError, build_driver
from greenroom.lab.nodes import LabNode
from greenroom.lab.processes import Processes, command_of, end_namespace, namespace_of, wait_for
from greenroom.lab.requests import Requests
from greenroom.lab.scripts import env_file, write_scripts
from greenroom.lab.slurm import SlurmFiles
from greenroom.parsers.slurm_nodes import SlurmNode
from greenroom.schedulers import SchedulerUnavailable
from greenroom.schedulers.slurm_client import SYSTEM_PATH, SlurmClient, SlurmSettings

NEEDED = ("munged", "slurmctld", "slurmd", "scontrol", "sbatch", "unshare", "mount")
START_S = 30.0
BOOT_S = 1.0
"""A reboot takes at least so long: Slurm's clock of boots has whole seconds."""


class Cluster:
    """Owns all processes: they are its children and end with ``stop``. Use as a context manager."""

    def __init__(  # noqa: PLR0913 - the parts of a cluster
        self,
        folder: Path,
        *,
        nodes: Sequence[str],
        late: Sequence[str] = (),
        faults: Mapping[str, Sequence[str]] | None = None,
        gpus: int = 8,
        model: str = "h100",
        controller_url: str = "",
        born_held: bool = True,
        prolog: bool = True,
        extra: str = "",
    ) -> None:
        """``late``: nodes Slurm knows of that have not arrived; ``extra``: lines for slurm.conf."""
        self.dir, self.controller_url = folder.absolute(), controller_url
        self.key_file = self.dir / "controller/admission.key"
        self.nodes = {
            name: LabNode(
                name=name,
                place=self.dir / "nodes" / name,
                gpus=gpus,
                model=model,
                faults=list((faults or {}).get(name, ())),
            )
            for name in (*nodes, *late)
        }
        self._first = tuple(nodes)
        self._gpus, self._born_held, self._prolog, self._extra = gpus, born_held, prolog, extra
        self.done: list[tuple[str, str]] = []
        """Reboots and replacements, in order: (what, node)."""
        self.stays_down: set[str] = set()
        """Nodes that will not come back from their next reboot."""
        self.conf = self.dir / "etc/slurm.conf"
        self.client = SlurmClient(SlurmSettings(conf=str(self.conf)))
        self._namespaces: dict[str, int] = {}
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def env(self) -> dict[str, str]:
        """For Slurm's commands."""
        return {"SLURM_CONF": str(self.conf), "PATH": os.environ.get("PATH", SYSTEM_PATH)}

    def start(self) -> None:
        """Start everything but the late nodes; returns when the others have registered.

        Raises:
            LabError: something is missing on this machine, or did not come up.
        """
        missing = missing_here()
        if missing:
            raise LabError(missing)
        for name in ("requests", "replaced", "controller", "log"):
            (self.dir / name).mkdir(parents=True, exist_ok=True)
        files = SlurmFiles(
            dir=self.dir,
            nodes=tuple(self.nodes),
            gpus=self._gpus,
            born_held=self._born_held,
            prolog=self._prolog,
            extra=self._extra,
        )
        files.write()
        files.write_cgroup(self.client.version())
        write_scripts(self.dir)
        self._driver = build_driver(self.dir / "driver")
        self.processes = Processes(self.dir / "pids.json", self.dir / "log")
        self._requests = Requests(self.dir, {"reboot": self.reboot, "replace": self.replace, "add": self.add})
        self._requests.start()
        try:
            self._start_munge()
            self.start_ctld()
            for name in self._first:
                self._switch_on(name)
            self._wait_registered(self._first)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End all that was started."""
        self._requests.stop()
        self.processes.end("controller")
        with self._lock:
            for name in list(self._namespaces):
                self._switch_off(name)
        for name in sorted(self.processes.names(), key="munged".__eq__):
            self.processes.end(name)

    def add(self, name: str) -> None:
        """A late node arrives."""
        self._switch_on(name)
        self._wait_registered([name])

    def kill_node(self, name: str) -> None:
        """The machine is gone, from one moment to the next."""
        self._switch_off(name)

    def reboot(self, name: str) -> None:
        """The machine reboots, whoever asked for it; a crash looks the same to Slurm."""
        self.done.append(("reboot", name))
        self._switch_off(name)
        self.nodes[name].reboot()
        if name in self.stays_down:
            self.stays_down.discard(name)
            return
        threading.Event().wait(BOOT_S)
        self._switch_on(name, first=False)

    crash = reboot

    def replace(self, name: str) -> None:
        """Another machine takes the slot."""
        self.done.append(("replace", name))
        self._switch_off(name)
        self.nodes[name].replace()
        threading.Event().wait(BOOT_S)
        self._switch_on(name, first=False)

    def start_ctld(self) -> None:
        """Start slurmctld."""
        self.processes.start("slurmctld", ["slurmctld", "-D", "-f", str(self.conf)], self.env)

    def stop_ctld(self, *, kill: bool = False) -> None:
        """End slurmctld; ``kill``: without a chance to save."""
        self.processes.end("slurmctld", kill=kill)

    def node(self, name: str) -> SlurmNode:
        """As Slurm shows it now."""
        return self.client.read().nodes[name]

    def wait_for(
        self, name: str, *flags: str, without: Sequence[str] = (), seconds: float = 30.0
    ) -> SlurmNode:
        """Wait until the node has all of ``flags`` and none of ``without``."""
        seen: list[SlurmNode] = []

        def there() -> bool:
            seen.append(self.node(name))
            return seen[-1].flags >= set(flags) and not seen[-1].flags & set(without)

        if not wait_for(there, seconds):
            raise LabError(f"{name}: expected {flags} without {without}, got {seen[-1]}")
        return seen[-1]

    def submit_user_job(self, *, node: str = "", gpus: int = 0, run_s: float = 600.0, nodes: int = 1) -> str:
        """A job of an ordinary user (nobody); its id."""
        nobody = pwd.getpwnam("nobody")
        args = ["--parsable", f"--uid={nobody.pw_uid}", f"--gid={nobody.pw_gid}", "--chdir=/"]
        args += [f"--nodes={nodes}", "--output=/dev/null", "--job-name=train", "--export=ALL"]
        args += [f"--nodelist={node}"] if node else []
        args += [f"--gres=gpu:{gpus}"] if gpus else []
        return self.client.ask("sbatch", *args, stdin=f"#!/bin/sh\nsleep {run_s}\n").strip()

    def _start_munge(self) -> None:
        place = self.dir / "munge"
        key = place / "munge.key"
        if not key.exists():
            key.write_bytes(os.urandom(128))
            key.chmod(0o400)
        argv = ["munged", "--foreground", "--force", "--num-threads=2", f"--key-file={key}"]
        argv += [f"--{name}={place}/munge.{end}" for name, end in _MUNGE_FILES]
        self.processes.start("munged", argv, self.env)
        if not wait_for((place / "munge.sock").exists, 5):
            raise LabError(f"munged did not start; see {self.dir}/log/munged.out")

    def _switch_on(self, name: str, *, first: bool = True) -> None:
        with self._lock:
            node = self.nodes[name]
            if first:
                node.build()
            env = node.env(driver=self._driver, controller_url=self.controller_url, key_file=self.key_file)
            (node.place / "env").write_text(env_file(env))
            (self.dir / f"run/slurmd-{name}.pid").unlink(missing_ok=True)
            # -b: Slurm takes the start of slurmd for the boot of the machine.
            argv = ["slurmd", "-D", "-b", "-N", name, "-f", str(self.conf)]
            pid = self.processes.start(f"slurmd-{name}", node.enter(argv), self.env)
            # Its name is slurmd once all files of the machine are mounted.
            if not wait_for(lambda: command_of(pid) == "slurmd", 5, 0.01):
                raise LabError(f"{name} did not start; see {self.dir}/log/slurmd-{name}.out")
            self._namespaces[name] = namespace_of(pid)

    def _switch_off(self, name: str) -> None:
        with self._lock:
            # The whole namespace: also jobs and whatever they have left behind.
            end_namespace(self._namespaces.pop(name, 0))
            self.processes.end(f"slurmd-{name}", kill=True)

    def _wait_registered(self, names: Sequence[str]) -> None:
        away = {"UNKNOWN", "NOT_RESPONDING", "DOWN", "FUTURE"}

        def there() -> bool:
            try:
                nodes = self.client.read().nodes
            except SchedulerUnavailable:
                return False
            return not any(nodes[name].flags & away for name in names)

        if not wait_for(there, START_S):
            raise LabError(f"not all nodes have registered after {START_S:g} s; see {self.dir}/log")


_MUNGE_FILES = (("socket", "sock"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))


def missing_here() -> str:
    """What this machine lacks for a lab; empty: nothing."""
    missing = [
        name for name in NEEDED if not shutil.which(name, path=f"{os.environ.get('PATH')}:{SYSTEM_PATH}")
    ]
    if missing:
        return (
            f"not installed: {', '.join(missing)}; on Debian: apt install slurmctld slurmd slurm-client munge"
        )
    return "" if os.geteuid() == 0 else "a lab needs root: each node gets a mount namespace of its own"
