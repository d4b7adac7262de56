"""Counters of a node's network before and after: what an average hides. No PyTorch here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

IB_COUNTERS = (
    "symbol_error",
    "link_downed",
    "link_error_recovery",
    "port_rcv_errors",
    "local_link_integrity_errors",
)


@dataclass(frozen=True, slots=True)
class Counters:
    """One reading."""

    retransmits: int
    """TCP segments sent again (/proc/net/snmp)."""
    carrier: dict[str, int]
    """Interface -> times its link went up or down."""
    infiniband: dict[str, int]
    """``mlx5_0/1:symbol_error`` -> count."""

    @classmethod
    def read(cls) -> Counters:
        """Those of this network namespace; what cannot be read is left out."""
        carrier = {
            path.parent.name: value
            for path in Path("/sys/class/net").glob("*/carrier_changes")
            if (value := _number(path)) is not None
        }
        ports = {
            f"{path.parts[-5]}/{path.parts[-3]}:{path.name}": value
            for name in IB_COUNTERS
            for path in Path("/sys/class/infiniband").glob(f"*/ports/*/counters/{name}")
            if (value := _number(path)) is not None
        }
        return cls(_retransmits(), carrier, ports)

    def change(self) -> dict[str, object]:
        """What has changed since."""
        now = Counters.read()
        return {
            "retransmits": now.retransmits - self.retransmits,
            "link_changes": _grown(self.carrier, now.carrier),
            "port_errors": _grown(self.infiniband, now.infiniband),
        }


def _grown(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {
        name: value - before[name] for name, value in after.items() if name in before and value > before[name]
    }


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _retransmits() -> int:
    try:
        rows = [
            line.split()
            for line in Path("/proc/net/snmp").read_text().splitlines()
            if line.startswith("Tcp:")
        ]
        return int(rows[1][rows[0].index("RetransSegs")])
    except (OSError, ValueError, IndexError):
        return 0
