"""`greenroom check --profile quick` on a node with eight stand-in GPUs, next to twelve checks of gpucm.

gpucm 0.0.2 (PyPI) checks one thing a process; the same stand-in driver answers both. Each case runs in turn
with the others, the first round (cold caches) is not counted. Printed: min/median/max of wall and CPU time,
the largest resident size of any process, processes and threads started (system-wide count, least of all
rounds), and the ratio to bare Python. Usage: quick.py [rounds]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from greenroom.lab.gpus import build_driver, write_state

GPUCM = "gpucm==0.0.2"
PLACE = Path.home() / ".cache" / "greenroom-bench" / "gpucm-0.0.2"
OF_GPUS = (
    ("gpu_num", "--gpu_num", "8"),
    ("running_procs",),
    ("gpu_temperature", "--gpu_temperature_threshold", "84"),
    ("gpu_mem_usage", "--gpu_mem_usage_threshold", "15"),
    ("ecc_uncorrected_volatile_total", "--ecc_uncorrected_volatile_threshold", "0"),
    ("ecc_corrected_volatile_total", "--ecc_corrected_volatile_threshold", "50000000"),
    ("row_remap",),
    ("row_remap_pending",),
    ("row_remap_failed",),
)
OF_HOST = (
    ("check-process", "check-zombie", "bench", "app"),
    ("check-storage", "mounted-directory", "bench", "app", "-d", "/proc"),
    ("check-storage", "file-exists", "bench", "app", "-f", "/etc/passwd"),
)
Cost = tuple[float, float, float, int]
"""Wall s, CPU s, largest RSS MiB, processes and threads."""


def gpucm() -> Path | None:
    """Its command, installed into a virtual environment of its own; None if that cannot be had."""
    command = PLACE / "bin" / "health_checks"
    if not command.exists():
        venv.create(PLACE, with_pip=True)
        subprocess.run([PLACE / "bin" / "pip", "install", "-q", GPUCM], check=False, capture_output=True)
    return command if command.exists() else None


def forks() -> int:
    """Processes and threads started since the boot (proc(5), stat)."""
    text = Path("/proc/stat").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("processes"))


def cost(commands: list[list[str]], env: dict[str, str], folder: str, *, good: tuple[int, ...]) -> Cost:
    """What running these one after the other takes; each must end with one of the good codes."""
    largest, cpu_s = 0.0, 0.0
    forked, begun = forks(), time.perf_counter()
    for argv in commands:
        process = subprocess.Popen(
            argv, env=env, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode in good, (argv, process.returncode)
        largest = max(largest, usage.ru_maxrss / 1024)
        cpu_s += usage.ru_utime + usage.ru_stime
    return time.perf_counter() - begun, cpu_s, largest, forks() - forked


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "gpus"
        write_state(state, node="bench")
        env = {
            **os.environ,
            "LD_LIBRARY_PATH": str(build_driver(Path(folder) / "lib")),
            "GREENROOM_LAB_GPUS": str(state),
            "GREENROOM_STATE_DIR": folder,
        }
        check = [sys.executable, "-m", "greenroom.cli.main", "check", "--json", "--profile", "quick"]
        cases = {
            "bare python": [[sys.executable, "-c", "pass"]],
            "greenroom check --profile quick": [[*check, "--expect-gpus", "8"]],
        }
        other = gpucm()
        if other:
            nvidia = [
                [str(other), "check-nvidia-smi", "bench", "app", "-c", *rest, "--log-folder", folder]
                for rest in OF_GPUS
            ]
            host = [[str(other), *rest, "--log-folder", folder] for rest in OF_HOST]
            cases["gpucm, 12 checks"] = [*nvidia, *host]
        else:
            print(f"{GPUCM} could not be installed: left out")
        _table(cases, env, folder, rounds)


def _table(cases: dict[str, list[list[str]]], env: dict[str, str], folder: str, rounds: int) -> None:
    taken: dict[str, list[Cost]] = {name: [] for name in cases}
    for turn in range(rounds + 1):
        for name, commands in cases.items():
            one = cost(commands, env, folder, good=(0, 1, 2, 3))
            if turn:
                taken[name].append(one)
    bare = statistics.median(one[0] for one in taken["bare python"])
    for name, costs in taken.items():
        wall, cpu = sorted(1000 * one[0] for one in costs), sorted(1000 * one[1] for one in costs)
        print(
            f"{name:32} wall {wall[0]:6.0f}/{statistics.median(wall):6.0f}/{wall[-1]:6.0f} ms"
            f"  cpu {cpu[0]:6.0f}/{statistics.median(cpu):6.0f}/{cpu[-1]:6.0f} ms"
            f"  rss {max(one[2] for one in costs):4.0f} MiB  started {min(one[3] for one in costs):3}"
            f"  = {statistics.median(wall) / 1000 / bare:5.1f} x bare"
        )


if __name__ == "__main__":
    main()
