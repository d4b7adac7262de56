"""A real Slurm with the real controller on it."""

from __future__ import annotations

import os
import random
import subprocess
import threading
import time
from pathlib import Path

from greenroom.lab.cluster import Cluster
from greenroom.lab.control import Controller
from greenroom.lab.processes import wait_for
from greenroom.model.words import Phase
from greenroom.schedulers import SchedulerUnavailable

# A slurm command that obeys a mode: as it is, hanging, or printing garbage.
UNRULY = """\
#!/bin/sh
case "$(cat {dir}/mode 2>/dev/null)" in
  hang) sleep 600 ;;
  garbage) echo 'NodeName=gpu-01 \x01 State=\xff Reason=['; echo '}}{{ nonsense'; exit 0 ;;
esac
exec {real} "$@"
"""


class Gated:
    """Cluster, controller and store; a context manager."""

    def __init__(self, folder: Path, *, nodes, late=(), faults=None, unruly=False, check="", **settings):
        self.dir = folder
        slurm = f'bin_dir = "{folder}/unruly"\n' if unruly else ""
        self.controller = Controller(folder, slurm=slurm, **settings)
        self.cluster = Cluster(
            folder, nodes=nodes, late=late, faults=faults or {}, controller_url=self.controller.url
        )
        self.unruly, self.check = unruly, check

    def __enter__(self):
        self.cluster.start()
        try:
            if self.unruly:
                self._make_unruly()
            if self.check:
                self._wrap_check()
            self.controller.start(self.cluster)
            self.store = self.controller.store()
        except BaseException:
            self.cluster.stop()
            raise
        return self

    def __exit__(self, *_):
        self.store.close()
        self.cluster.stop()

    def _make_unruly(self):
        (self.dir / "unruly").mkdir()
        for tool in ("scontrol", "squeue", "sbatch", "scancel"):
            path = self.dir / "unruly" / tool
            path.write_text(UNRULY.format(dir=self.dir, real=f"/usr/bin/{tool}"))
            path.chmod(0o755)

    def _wrap_check(self):
        """Put lines before the check on the nodes: ``self.check`` is a piece of shell."""
        real = self.dir / "bin/greenroom"
        real.rename(self.dir / "bin/greenroom.real")
        real.write_text(
            f'#!/bin/sh\nif [ "$1" = check ]; then\n{self.check}\nfi\nexec {self.dir}/bin/greenroom.real "$@"\n'
        )
        real.chmod(0o755)

    def mode(self, text):
        (self.dir / "mode").write_text(text)

    def cli(self, *argv, check=True):
        ran = subprocess.run(
            [self.dir / "bin/greenroom", *argv],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "GREENROOM_CONFIG": str(self.controller.config)},
        )
        assert not check or ran.returncode == 0, ran.stderr
        return ran.stdout

    def on_node(self, node, *argv):
        """Run `greenroom` on the node: in its namespace, with its environment."""
        pid = self.cluster.processes.pid(f"slurmd-{node}")
        return subprocess.run(
            ["nsenter", "-t", str(pid), "-m", self.dir / "bin/greenroom", *argv],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "SLURMD_NODENAME": node},
        )

    def found_in_service(self, node, *faults):
        """The hardware fails, and a look on the node reports it."""
        self.cluster.nodes[node].faults[:] = faults
        self.cluster.nodes[node].show_gpus()
        gpus = str(self.cluster.nodes[node].gpus)
        return self.on_node(
            node, "check", "--json", "--profile", "quick", "--expect-gpus", gpus, "--node", node,
            "--report-to", self.controller.url,
        )  # fmt: skip

    def phase(self, node):
        state = self.store.load(node)
        return state.phase if state else None

    def phases(self):
        return {state.node: state.phase for state in self.store.states()}

    def until(self, condition, *, seconds=90.0):
        assert wait_for(condition, seconds, 0.2), (self.phases(), self.tail())

    def until_phase(self, phase, *nodes, seconds=90.0):
        self.until(lambda: all(self.phase(node) is phase for node in nodes), seconds=seconds)

    def until_free(self, *nodes, seconds=90.0):
        """In service, and Slurm shows it."""
        self.until_phase(Phase.IN_SERVICE, *nodes, seconds=seconds)

        def free():
            reading = self.cluster.client.read()
            return not any(reading.nodes[node].drained or reading.reserved(node) for node in nodes)

        self.until(free, seconds=30)

    def job(self, number):
        """State and restarts of a job."""
        text = self.cluster.client.ask("scontrol", "show", "job", "-o", number)
        fields = dict(part.partition("=")[::2] for part in text.split() if "=" in part)
        return fields["JobState"], int(fields["Restarts"])

    def drain_as_admin(self, node, reason):
        assert self.cluster.client.batch([f'update nodename={node} state=drain reason="{reason}"']) == []

    def tail(self):
        return (self.dir / "log/controller.out").read_text()[-3000:]


class Stream:
    """User jobs, at least ``rate`` a second, each a moment long."""

    def __init__(self, cluster, *, rate):
        self.cluster, self.rate = cluster, rate
        self.submitted = 0
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(2)]
        self.started = time.monotonic()

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self.seconds = time.monotonic() - self.started

    def _run(self):
        due = time.monotonic()
        while not self._stop.is_set():
            try:
                self.cluster.submit_user_job(gpus=1, run_s=0.3)
                self.submitted += 1
            except SchedulerUnavailable:
                pass
            due = max(due + len(self._threads) / self.rate, time.monotonic() - 1.0)
            self._stop.wait(max(0.0, due - time.monotonic()))


def dice(default=20261201):
    """Random moments, the same in every run; GREENROOM_SEED gives others."""
    return random.Random(int(os.environ.get("GREENROOM_SEED", default)))
