"""What the state of an InfiniBand or RoCE port means, whichever tool printed it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from greenroom.parsers.notebook import Notebook

_SDR_GBPS = 10.0
"""4X SDR: what a port shows before it has trained; no cable of a cluster is meant to run at it."""


@dataclass(slots=True)
class Port:
    """One port. Words in lower case, empty where the text does not say."""

    hca: str
    port: int = 1
    state: str = ""
    """``active``, ``armed``, ``initializing``, ``down``."""
    physical: str = ""
    """``linkup``, ``polling``, ``disabled``, ``sleep``, ``linkerrorrecovery``."""
    rate_gbps: float | None = None
    lid: int | None = None
    sm_lid: int | None = None
    layer: str = ""
    """``infiniband``, ``ethernet``."""
    model: str = ""
    firmware: str = ""
    netdev: str = ""
    line: int = 0
    evidence: str = ""

    @property
    def device(self) -> str:
        """``mlx5_0/1``."""
        return f"{self.hca}/{self.port}" if self.hca else ""

    @property
    def ethernet(self) -> bool:
        """Whether it speaks RoCE: no lid, no subnet manager."""
        return self.layer == "ethernet"


def judge(port: Port) -> str:
    """Code of what is wrong with the port; empty: nothing."""
    family = "roce.port" if port.ethernet else "ib.port"
    if port.state == "down":
        if port.physical == "disabled":
            # A port that speaks InfiniBand was meant for the fabric; Ethernet ports of such cards often idle.
            return "ib.port.disabled.ib" if port.layer == "infiniband" else f"{family}.disabled"
        if port.physical == "linkup" and not port.ethernet:
            # The physical port is up, the logical one is not: a virtual function without a policy.
            return "ib.vf.down"
        return f"{family}.polling" if port.physical == "polling" else f"{family}.down"
    if port.state in {"initializing", "init", "armed", "arm"}:
        return f"{family}.init"
    if port.physical in {
        "linkerrorrecovery",
        "phy_test",
        "phytest",
        "sleep",
        "training",
        "portconfigurationtraining",
    }:
        return f"{family}.recovery"
    if port.state != "active":
        return ""
    if not port.ethernet and port.rate_gbps is not None and 0 < port.rate_gbps <= _SDR_GBPS:
        return f"{family}.slow"
    if port.layer == "infiniband" and port.sm_lid == 0:
        return "ib.port.no_sm"
    return ""


def note_all(book: Notebook, ports: Sequence[Port]) -> None:
    """Write the ports into the notebook: each alone, then each against its like."""
    usual = _usual_rates(ports)
    for port in ports:
        code = judge(port)
        expected = usual.get((port.model, port.layer))
        slower = port.state == "active" and port.rate_gbps and expected and port.rate_gbps < expected
        if not code and slower:
            code = "roce.port.slow" if port.ethernet else "ib.port.slow"
        if code:
            book.add(
                code,
                port.device,
                line=port.line,
                evidence=port.evidence,
                state=port.state,
                physical=port.physical,
                rate_gbps=port.rate_gbps if port.state == "active" else None,
                peers_gbps=expected if slower else None,
                layer=port.layer,
                model=port.model,
            )
        elif port.state == "active":
            book.ok()
        else:
            book.puzzled(f"{port.device}: state {port.state or 'not shown'!r}")


def _usual_rates(ports: Sequence[Port]) -> dict[tuple[str, str], float]:
    """The rate that most active ports of one model and layer have, where at least three agree."""
    rates: dict[tuple[str, str], Counter[float]] = {}
    for port in ports:
        if port.state == "active" and port.rate_gbps:
            rates.setdefault((port.model, port.layer), Counter())[port.rate_gbps] += 1
    common = {key: counter.most_common(1)[0] for key, counter in rates.items()}
    return {
        key: rate for key, (rate, times) in common.items() if times >= 3 and times * 2 > rates[key].total()
    }
