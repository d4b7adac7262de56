"""The catalogue's files, one a family, each read when a code of it is first asked for."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from greenroom.faults.fault import Clears, Fault, Opinion
from greenroom.model.sightings import Scope
from greenroom.model.words import Rung, Severity

FOLDER = Path(__file__).with_name("catalogue")
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "checks": ("gpu.", "host.", "net."),
    "xid": ("gpu.xid.", "gpu.recovery."),
    "nvlink5": tuple(f"gpu.xid.{xid}." for xid in range(144, 151)),
    "sxid": ("nvswitch.sxid.",),
    "dcgm": ("dcgm.",),
    "nvml": ("nvml.",),
    "pcie": ("pcie.",),
    "memory": ("host.edac.", "host.mce", "host.memory.poison", "host.cper"),
    "nic": ("nic.", "ib.", "roce."),
    "nvme": ("nvme.", "smart."),
    "amd": ("gpu.amd.", "gpu.intel."),
    "host_checks": ("host.", "ib.", "nic.", "nvme.", "disk.", "storage.", "pcie."),
    "own": (
        "app.",
        "disk.",
        "gpu.",
        "host.",
        "ib.",
        "nic.",
        "node.",
        "nvme.",
        "pcie.",
        "perftest.",
        "roce.",
        "storage.",
    ),
    "logs": (
        "app.cuda",
        "dcgm.14.",
        "dcgm.46.",
        "dcgm.99.",
        "gpu.memory.",
        "gpu.plugin",
        "gpu.uvm.",
        "host.cper.",
        "ib.port.disabled.",
        "k8s.",
        "nhc.",
        "pci.",
        "pcie.aer.corrected.",
        "pcie.dpc",
        "pcie.link.limited.",
    ),
    "gpu_checks": ("gpu.",),
    "texts": ("gpu.", "host.", "nvswitch.", "fabric.", "nccl.", "slurm.", "lb."),
}
"""Family -> how its codes begin. A family without such a beginning cannot have the code."""


class Catalogue(Mapping[str, Fault]):
    """Every fault by code. Asking for one reads its family only; going over all reads all."""

    def __init__(self, changed: Mapping[str, Fault] | None = None) -> None:
        """``changed``: rows of the site, laid over ours."""
        self.changed: Mapping[str, Fault] = changed or {}

    def __getitem__(self, code: str) -> Fault:
        """The row of that very code; KeyError if there is none."""
        if code in self.changed:
            return self.changed[code]
        for family in homes(code):
            if found := read(family).get(code):
                return found
        raise KeyError(code)

    def __iter__(self) -> Iterator[str]:
        ours = {code for family in FAMILIES for code in read(family)}
        return iter(sorted(ours | set(self.changed)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def homes(code: str) -> tuple[str, ...]:
    """The families that may have the code, the most fitting first."""
    fits = [
        (-max(len(start) for start in starts if code.startswith(start)), family)
        for family, starts in FAMILIES.items()
        if code.startswith(starts)
    ]
    return tuple(family for _, family in sorted(fits))


@cache
def read(family: str) -> Mapping[str, Fault]:
    """The rows of a family. Its file is part of the package: a mistake in it is our bug and raises."""
    data = raw(family)
    common = {key: value for key, value in data.items() if not isinstance(value, dict | list)}
    common["architectures"] = data.get("architectures", [])
    rows: dict[str, Fault] = {}
    for group in data.get("group", []):
        for code, meaning in group["codes"].items():
            rows[code] = _fault(code, {**common, **group, "meaning": meaning}, family)
    for code, row in data.get("fault", {}).items():
        rows[code] = _fault(code, {**common, **row}, family)
    return rows


@cache
def raw(family: str) -> Mapping[str, Any]:
    """The file of a family as TOML has it."""
    return tomllib.loads((FOLDER / f"{family}.toml").read_text(encoding="utf-8"))


def _fault(code: str, row: Mapping[str, Any], family: str) -> Fault:
    return Fault(
        code=code,
        meaning=row["meaning"],
        part=row["part"],
        severity=Severity(row["severity"]),
        remedy=Rung(row["remedy"]),
        source=row["source"],
        source_version=row["source_version"],
        scope=Scope(row["scope"]),
        clears=Clears(row["clears"]),
        why=row.get("why", ""),
        architectures=tuple(row["architectures"]),
        other_sources=tuple(Opinion(**other) for other in row.get("other_sources", ())),
        choice=row.get("choice", ""),
        family=family,
    )
