"""Kernel-log reading: MB/s over a file of noise with a few reports, next to `grep -E` over the same file.

The file is read in blocks, as `greenroom diagnose` does; the peak of memory is of the reading process alone.

Usage: parsers.py [megabytes]
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from greenroom.parsers.kernel_text import read_blocks

DEFAULT_MEGABYTES = 20
BLOCK_BYTES = 1024 * 1024
WORDS = ("usb", "pci", "eth0", "link", "up", "device", "new", "mounted", "systemd", "audit", "docker", "veth")
REPORT = "NVRM: Xid (PCI:0000:41:00): 79, pid=1, name=x, GPU has fallen off the bus."
PATTERN = "NVRM: Xid|SXid|EDAC|AER|I/O error|blocked for more than|uncorrectable"


def write_noise(file: IO[str], megabytes: int) -> None:
    dice = random.Random(1)
    size = 0
    while size < megabytes * 1_000_000:
        text = " ".join(dice.choices(WORDS, k=8))
        line = f"[{size / 1000:12.6f}] {REPORT if dice.random() < 1e-4 else text}\n"
        file.write(line)
        size += len(line)


def blocks(path: str) -> Iterator[str]:
    with Path(path).open("rb") as file:
        while data := file.read(BLOCK_BYTES):
            yield data.decode("utf-8", "replace")


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_MEGABYTES
    with tempfile.NamedTemporaryFile("w", suffix=".log") as file:
        write_noise(file, megabytes)
        file.flush()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        for repeat in range(3):
            begun = time.perf_counter()
            reading = read_blocks(blocks(file.name))
            ours = time.perf_counter() - begun
            begun = time.perf_counter()
            ran = subprocess.run(
                ["grep", "-cE", PATTERN, file.name], capture_output=True, text=True, check=True
            )
            grep = time.perf_counter() - begun
            print(
                f"run {repeat + 1}: {megabytes / ours:6.1f} MB/s, {len(reading.sightings)} reports"
                f" of {ran.stdout.strip()}; grep -E {megabytes / grep:7.1f} MB/s = {ours / grep:3.0f} x"
            )
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{megabytes} MB read; peak memory {after:.0f} MiB, {before:.0f} MiB of it before reading")


if __name__ == "__main__":
    main()
