"""What the GPUs say of themselves while they work: clocks, power, heat, what slows them, ECC errors."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

SLOWED = {0x8: "hardware", 0x20: "heat", 0x40: "heat (hardware)", 0x80: "power brake"}
"""Bits of nvmlClocksEventReasons that healthy, cooled GPUs do not show under load. The power cap (0x4) is
left out: at full load it is the normal state."""
POWER_CAP = 0x4
_READINGS: dict[str, Callable[[Any, Any], Any]] = {
    "clock_mhz": lambda nvml, handle: nvml.nvmlDeviceGetClockInfo(handle, 1),
    "power_w": lambda nvml, handle: nvml.nvmlDeviceGetPowerUsage(handle) / 1000,
    "temperature_c": lambda nvml, handle: nvml.nvmlDeviceGetTemperature(handle, 0),
    "reasons": lambda nvml, handle: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle),
    "ecc_corrected": lambda nvml, handle: nvml.nvmlDeviceGetTotalEccErrors(handle, 0, 0),
    "ecc_uncorrected": lambda nvml, handle: nvml.nvmlDeviceGetTotalEccErrors(handle, 1, 0),
}


class Sampler:
    """A thread that reads NVML now and then; where there is none, it says nothing."""

    def __init__(self, every_s: float, *, on: bool) -> None:
        self._every_s, self._on = every_s, on
        self._over = threading.Event()
        self._rows: dict[int, list[dict[str, Any]]] = {}
        self._why = "" if on else "not asked for"

    def __enter__(self) -> Self:
        if self._on:
            threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()

    def _watch(self) -> None:
        try:
            import pynvml  # noqa: PLC0415 - where there is a GPU

            pynvml.nvmlInit()
            count = pynvml.nvmlDeviceGetCount()
            handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
        except Exception as error:  # noqa: BLE001 - no NVML, no samples
            self._why = str(error)
            return
        while not self._over.is_set():
            for index, handle in enumerate(handles):
                self._rows.setdefault(index, []).append({"at": time.monotonic(), **_read(pynvml, handle)})
            self._over.wait(self._every_s)

    def temperatures(self) -> list[float]:
        """The last of each GPU, C."""
        last = [rows[-1] for rows in self._rows.values()]
        return [float(row["temperature_c"]) for row in last if "temperature_c" in row]

    def told(self) -> dict[str, Any]:
        """GPU -> least, middle and most of each reading; what slowed it, and for which part of the time."""
        if not self._rows:
            return {"why_none": self._why} if self._why else {}
        return {f"gpu{index}": _sum_up(rows) for index, rows in sorted(self._rows.items())}


def _read(nvml: Any, handle: Any) -> dict[str, Any]:  # noqa: ANN401 - a module without types
    values = {}
    for name, ask in _READINGS.items():
        # not every GPU has every reading
        with contextlib.suppress(Exception):
            values[name] = ask(nvml, handle)
    return values


def _sum_up(rows: list[dict[str, Any]]) -> dict[str, Any]:
    told: dict[str, Any] = {"samples": len(rows)}
    for name in ("clock_mhz", "power_w", "temperature_c"):
        if values := sorted(row[name] for row in rows if name in row):
            told[name] = [round(values[0], 1), round(values[len(values) // 2], 1), round(values[-1], 1)]
    for name in ("ecc_corrected", "ecc_uncorrected"):
        if values := [row[name] for row in rows if name in row]:
            told[name] = values[-1] - values[0]
    masks = [row["reasons"] for row in rows if "reasons" in row]
    if masks:
        told["slowed"] = {
            word: round(share, 3)
            for bit, word in (*SLOWED.items(), (POWER_CAP, "power cap"))
            if (share := sum(1 for mask in masks if mask & bit) / len(masks))
        }
    return told
