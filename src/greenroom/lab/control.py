"""The controller of a lab: its configuration and the `greenroom serve` process."""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path

from greenroom.lab.cluster import Cluster
from greenroom.lab.gpus import LabError
from greenroom.lab.processes import wait_for
from greenroom.lab.slurm import free_ports
from greenroom.store import Store, open_store

# Short times: a lab shows in minutes what takes hours elsewhere.
TOML = """\
[controller]
listen = "127.0.0.1:{port}"
state_dir = "{dir}/controller"
poll_s = 1.0

[scheduler]
kind = "slurm"
[scheduler.slurm]
conf = "{conf}"
command_timeout_s = 15.0
{slurm}
[gate]
on_start_profile = "quick"
{gate}
[check]
command = ["{dir}/bin/greenroom"]

[recovery]
max_attempts = 3
[recovery.reboot]
provider = "scheduler"
deadline_s = 60.0
[recovery.replace]
provider = "command"
command = ["{dir}/bin/replace"]
deadline_s = 60.0

[groups.main]
partition = "main"
min = {minimum}
{more}
"""


class Controller:
    """`greenroom serve` for a cluster, as a child of this process."""

    def __init__(
        self,
        folder: Path,
        *,
        port: int = 0,
        minimum: int = 1,
        gate: str = "",
        slurm: str = "",
        more: str = "",
    ) -> None:
        """``gate``, ``slurm``, ``more``: lines for those tables, and further tables."""
        self.dir, self.port = folder.absolute(), port or free_ports(1)[0]
        self.config = self.dir / "greenroom.toml"
        self._toml = {"minimum": minimum, "gate": gate, "slurm": slurm, "more": more}

    @property
    def url(self) -> str:
        """Of the HTTP API."""
        return f"http://127.0.0.1:{self.port}"

    def write(self) -> None:
        """Write the configuration."""
        (self.dir / "controller").mkdir(parents=True, exist_ok=True)
        values = {"port": self.port, "dir": self.dir, "conf": self.dir / "etc/slurm.conf", **self._toml}
        self.config.write_text(TOML.format(**values))

    def start(self, cluster: Cluster, *, seconds: float = 20.0) -> None:
        """Start it and wait until it answers. Raises LabError if it does not."""
        self.write()
        argv = [sys.executable, "-m", "greenroom.cli.main", "serve", "--config", str(self.config)]
        cluster.processes.start("controller", argv, dict(os.environ))
        if not wait_for(self.health, seconds):
            raise LabError(f"the controller did not start; see {self.dir}/log/controller.out")

    def stop(self, cluster: Cluster, *, kill: bool = False) -> None:
        """End it; ``kill``: without a chance to finish anything."""
        cluster.processes.end("controller", kill=kill)

    def health(self) -> dict[str, object]:
        """Its answer to /healthz, whatever the status; empty if there is none."""
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=2) as answer:  # noqa: S310 - our own URL
                text = answer.read()
        except urllib.error.HTTPError as error:
            text = error.read()
        except OSError:
            return {}
        health: dict[str, object] = json.loads(text)
        return health

    def store(self) -> Store:
        """The store it works on, opened beside it."""
        return open_store(f"sqlite:///{self.dir}/controller/greenroom.db")
