"""Start-up: `greenroom ask` and `greenroom check --profile quick` against bare Python, same session.

Prints min/median/max in ms and the ratio of the medians. Usage: start.py [repeats]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time


def measured(argv: list[str], env: dict[str, str], repeats: int) -> list[float]:
    """Wall times of a command, ms; the first run (cold caches) is not counted."""
    times = []
    for repeat in range(repeats + 1):
        begun = time.perf_counter()
        subprocess.run(argv, env=env, capture_output=True, check=False)
        if repeat:
            times.append(1000 * (time.perf_counter() - begun))
    return sorted(times)


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    greenroom = [sys.executable, "-m", "greenroom.cli.main"]
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "GREENROOM_STATE_DIR": folder}
        cases = {
            "bare python": [sys.executable, "-c", "pass"],
            "greenroom ask": [*greenroom, "ask", "--node=x", f"--socket={folder}/none"],
            "greenroom check, one cheap check": [
                *greenroom, "check", "--json", "--profile", "quick", "--only", "filesystem.writable",
            ],
            "greenroom check --profile quick": [*greenroom, "check", "--json", "--profile", "quick"],
        }  # fmt: skip
        bare = 0.0
        for name, argv in cases.items():
            times = measured(argv, env, repeats)
            middle = statistics.median(times)
            bare = bare or middle
            print(
                f"{name:34} min {times[0]:6.1f}  median {middle:6.1f}  max {times[-1]:6.1f} ms"
                f"  = {middle / bare:4.1f} x bare"
            )


if __name__ == "__main__":
    main()
