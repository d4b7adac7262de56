"""Kernel-log reading: MB/s over noise with a few reports in it, next to `grep -E` over the same file.

Usage: parsers.py [megabytes]
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time

from greenroom.parsers.kernel_text import read

WORDS = ("usb", "pci", "eth0", "link", "up", "device", "new", "mounted", "systemd", "audit", "docker", "veth")
REPORT = "NVRM: Xid (PCI:0000:41:00): 79, pid=1, name=x, GPU has fallen off the bus."
PATTERN = "NVRM: Xid|SXid|EDAC|AER|I/O error|blocked for more than|uncorrectable"


def noise(megabytes: int) -> str:
    dice = random.Random(1)
    lines, size = [], 0
    while size < megabytes * 1_000_000:
        text = " ".join(dice.choices(WORDS, k=8))
        line = f"[{size / 1000:12.6f}] {REPORT if dice.random() < 1e-4 else text}"
        lines.append(line)
        size += len(line) + 1
    return "\n".join(lines)


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    text = noise(megabytes)
    with tempfile.NamedTemporaryFile("w", suffix=".log") as file:
        file.write(text)
        file.flush()
        for repeat in range(3):
            begun = time.perf_counter()
            reading = read(text)
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


if __name__ == "__main__":
    main()
