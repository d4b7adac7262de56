"""What the prolog costs a job: `srun -n1 true` on a lab node, without and with it.

With the prolog it is measured twice: the controller answers; nobody answers and the signed record
decides. Usage: prolog.py [repeats]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from greenroom.lab.cluster import Cluster
from greenroom.lab.control import Controller
from greenroom.lab.processes import wait_for
from greenroom.model.words import Phase


def measured(cluster: Cluster, repeats: int) -> list[float]:
    """Wall times of srun, ms; the first is not counted."""
    times = []
    for repeat in range(repeats + 1):
        begun = time.perf_counter()
        subprocess.run(["srun", "-n1", "true"], env=cluster.env, check=True, capture_output=True)
        if repeat:
            times.append(1000 * (time.perf_counter() - begun))
    return sorted(times)


def show(name: str, times: list[float], bare: float) -> float:
    middle = statistics.median(times)
    print(
        f"{name:38} min {times[0]:6.1f}  median {middle:6.1f}  max {times[-1]:6.1f} ms"
        f"  = {middle / (bare or middle):4.2f} x without"
    )
    return middle


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory(prefix="greenroom-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        with Cluster(folder / "without", nodes=["gpu-01"], born_held=False, prolog=False) as cluster:
            bare = show("without a prolog", measured(cluster, repeats), 0.0)
        controller = Controller(folder / "with")
        with Cluster(folder / "with", nodes=["gpu-01"], controller_url=controller.url) as cluster:
            controller.start(cluster)
            store = controller.store()
            assert wait_for(
                lambda: (state := store.load("gpu-01")) and state.phase is Phase.IN_SERVICE, 60
            ), "the node was not admitted"
            assert wait_for(lambda: not cluster.node("gpu-01").drained, 20)
            time.sleep(3)
            show("prolog, the controller answers", measured(cluster, repeats), bare)
            controller.stop(cluster)
            show("prolog, the signed record decides", measured(cluster, repeats), bare)
            store.close()


if __name__ == "__main__":
    main()
