"""Patterns through nearly all free memory of all devices at once: written everywhere, then read back.

Every pattern fills all memory before any of it is read, so that the data rest in the memory and not in a
cache. The patterns are the usual ones of memory testers (memtest86+, memtestG80).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from greenroom.workloads.devices import DEFAULTS as DEVICE_DEFAULTS
from greenroom.workloads.devices import Device, on_all, open_devices, runtime, together
from greenroom.workloads.process import Unable, say

DEFAULTS: dict[str, Any] = {
    **DEVICE_DEFAULTS,
    "share": 0.95,
    "max_mib": 0,
    "chunk_mib": 256,
    "seconds": 0.0,
    "patterns": [],
}
"""``share``: of the free memory. ``max_mib``: no more than that on each device; 0: no limit.
``seconds``: no new pattern after so long; 0: all once. ``patterns``: by name; none: all."""
WORD = 8
CHECKER = 0x5555_5555_5555_5555
ONES = -1
Expected = Callable[[int], Any]
"""Number of a chunk -> what is in it: a tensor of its size, or one whole number for all words."""


def run(spec: dict[str, Any]) -> dict[str, Any]:
    """Wrong words per device, and which patterns there was time for."""
    if unknown := sorted(set(spec["patterns"]) - set(PATTERNS)):
        raise Unable(f"patterns: no {', '.join(unknown)}; expected {', '.join(PATTERNS)}")
    devices = open_devices(spec)
    told = on_all(devices, lambda device, start: _test(device, start, spec))
    rows = [
        device.told() | (one if isinstance(one := told[device.label], dict) else {"broke": one})
        for device in devices
    ]
    return {"torch": devices[0].torch.__version__, "runtime": runtime(devices[0].torch), "devices": rows}


def _test(device: Device, start: threading.Barrier, spec: dict[str, Any]) -> dict[str, Any]:
    free = device.free_bytes()
    space = _Space.take(device, free, spec)
    if not space.chunks:
        raise Unable(f"{device.label}: no memory is free")
    together(start)
    started = time.monotonic()
    done: list[str] = []
    for name in spec["patterns"] or PATTERNS:
        if spec["seconds"] and done and time.monotonic() - started > spec["seconds"]:
            break
        say("progress", device=device.label, pattern=name)
        PATTERNS[name](space, name)
        done.append(name)
    seconds = time.monotonic() - started
    told = {
        "free_bytes": free,
        "tested_bytes": space.size_bytes,
        "patterns": done,
        "left_out": [name for name in spec["patterns"] or PATTERNS if name not in done],
        "wrong": space.wrong,
        "first_wrong": space.first,
        "gb_per_s": round(space.moved_bytes / seconds / 1e9, 2),
    }
    space.chunks.clear()
    device.forget()
    return told


@dataclass(slots=True)
class _Space:
    """All memory under test, in chunks of one size."""

    device: Device
    chunks: list[Any]
    scratch: Any
    seed: int
    wrong: int = 0
    first: str = ""
    moved_bytes: int = 0

    @classmethod
    def take(cls, device: Device, free_bytes: int, spec: dict[str, Any]) -> _Space:
        """As much as is asked for. A chunk and its comparison need room as well."""
        torch, words = device.torch, max(8, int(spec["chunk_mib"]) << 20 >> 3)
        limit = int(spec["max_mib"]) << 20 or free_bytes
        words = min(words, max(8, limit // WORD // 4 // 64 * 64))
        scratch = torch.empty(words, dtype=torch.int64, device=device.at)
        wanted = min(int(free_bytes * float(spec["share"])), limit)
        chunks: list[Any] = []
        try:
            while (len(chunks) + 1) * words * WORD <= wanted:
                chunks.append(torch.empty(words, dtype=torch.int64, device=device.at))
        except RuntimeError:  # out of memory: others use it, or it is in pieces
            del chunks[-1:]  # room for the comparison
            device.forget()
        return cls(device=device, chunks=chunks, scratch=scratch, seed=int(spec["seed"]))

    @property
    def size_bytes(self) -> int:
        """Under test."""
        return len(self.chunks) * int(self.scratch.numel()) * WORD

    def write(self, expected: Expected) -> None:
        """All of it."""
        for number, chunk in enumerate(self.chunks):
            self._put(chunk, expected(number))

    def read(self, name: str, expected: Expected) -> None:
        """All of it, and count what differs."""
        for number, chunk in enumerate(self.chunks):
            self.compare(name, number, chunk, expected(number))

    def turn(self, name: str, before: int, after: int, *, down: bool = False) -> None:
        """Chunk by chunk: what was written before is there, and is replaced."""
        numbers = range(len(self.chunks))
        for number in reversed(numbers) if down else numbers:
            chunk = self.chunks[number]
            self.compare(name, number, chunk, before)
            self._put(chunk, after)

    def compare(self, name: str, number: int, chunk: Any, want: Any) -> None:  # noqa: ANN401
        """Count the words of a chunk that differ."""
        self.moved_bytes += chunk.numel() * WORD
        odd = chunk != want
        count = int(odd.sum().item())
        if not count:
            return
        self.wrong += count
        if not self.first:
            index = int(odd.nonzero()[0].item())
            right = want if isinstance(want, int) else int(want[index].item())
            got, right = (value & 0xFFFF_FFFF_FFFF_FFFF for value in (int(chunk[index].item()), right))
            bits = [bit for bit in range(64) if (got ^ right) >> bit & 1]
            place = (number * chunk.numel() + index) * WORD
            told = ", ".join(map(str, bits[:8]))
            self.first = f"{name}, byte {place:#x}: got {got:#018x}, expected {right:#018x} (bit {told})"

    def _put(self, chunk: Any, value: Any) -> None:  # noqa: ANN401
        self.moved_bytes += chunk.numel() * WORD
        if isinstance(value, int):
            chunk.fill_(value)
        else:
            chunk.copy_(value)

    def count_up(self) -> Any:  # noqa: ANN401
        """0, 1, 2, ... in the scratch chunk."""
        return self.device.torch.arange(self.scratch.numel(), out=self.scratch)


def _solid(space: _Space, name: str) -> None:
    for value in (0, ONES):
        space.write(lambda _, value=value: value)  # type: ignore[misc]
        space.read(name, lambda _, value=value: value)  # type: ignore[misc]


def _checkerboard(space: _Space, name: str) -> None:
    for value in (CHECKER, ~CHECKER):
        space.write(lambda _, value=value: value)  # type: ignore[misc]
        space.read(name, lambda _, value=value: value)  # type: ignore[misc]


def _address(space: _Space, name: str) -> None:
    """Every word holds its own number: two addresses that lead to one place cannot both be right."""
    size = space.scratch.numel()
    up = space.count_up()

    def own(number: int) -> Any:  # noqa: ANN401
        return up + number * size

    space.write(own)
    space.read(name, own)


def _random(space: _Space, name: str) -> None:
    torch = space.device.torch

    def drawn(number: int) -> Any:  # noqa: ANN401
        dice = torch.Generator(space.device.at).manual_seed(space.seed * 1_000_003 + number)
        return space.scratch.random_(-(1 << 63), (1 << 63) - 1, generator=dice)

    space.write(drawn)
    space.read(name, drawn)


def _inversions(space: _Space, name: str) -> None:
    """Moving inversions: up, down, and both values are read at every place."""
    for value in (0, CHECKER):
        space.write(lambda _, value=value: value)  # type: ignore[misc]
        space.turn(name, value, ~value)
        space.turn(name, ~value, value, down=True)
        space.read(name, lambda _, value=value: value)  # type: ignore[misc]


def _walking(space: _Space, name: str) -> None:
    """One bit of 64 is 1 (then 0), another one in every word and in every pass."""
    torch = space.device.torch
    at = space.device.at
    bits = torch.ones((), dtype=torch.int64, device=at) << torch.arange(64, device=at)
    for step in range(64):
        row = bits.roll(step) if name == "walking-ones" else ~bits.roll(step)
        space.scratch.view(-1, 64).copy_(row.expand(space.scratch.numel() // 64, 64))
        space.write(lambda _: space.scratch)
        space.read(name, lambda _: space.scratch)


PATTERNS: dict[str, Callable[[_Space, str], None]] = {
    "address": _address,
    "random": _random,
    "checkerboard": _checkerboard,
    "moving-inversions": _inversions,
    "solid": _solid,
    "walking-ones": _walking,
    "walking-zeros": _walking,
}
"""In this order: those that find most first, the long ones last."""
