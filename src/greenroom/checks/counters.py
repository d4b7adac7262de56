"""Counters that must stand still: links, PCI Express and heat, read twice with a second between.

A count since the boot tells that something happened; that it grows tells that it happens now. All of
them share one wait.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import WITH_LOAD, Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.infiniband import ROOT as IB
from greenroom.checks.network import ROOT as NET
from greenroom.checks.optional import read_number, read_text
from greenroom.checks.pci import ROOT as PCI
from greenroom.checks.pci_setup import count_errors
from greenroom.checks.processor import CPU
from greenroom.model.results import Finding
from greenroom.model.words import Stage
from greenroom.probes.host import Host

WAIT_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Counters of one kind: where, how fast they may grow, what it means if they grow faster."""

    code: str
    limit: str
    """Name of the threshold, 1/s."""
    pattern: str
    names: tuple[str, ...]
    """Last part of the path."""


def _ib(code: str, limit: str, folder: str, *names: str) -> Source:
    return Source(code=code, limit=f"infiniband.{limit}", pattern=f"{IB}/*/ports/*/{folder}", names=names)


EVENTS, BITS, AGAIN = "link_events_per_s_max", "bit_errors_per_s_max", "retransmits_per_s_max"
# Meaning of the counters: kernel ABI stable/sysfs-class-infiniband; NVIDIA, Understanding mlx5 counters.
SOURCES = (
    _ib("ib.port.flapping", EVENTS, "counters", "link_downed", "link_error_recovery"),
    _ib("ib.errors", EVENTS, "counters", "local_link_integrity_errors", "excessive_buffer_overrun_errors"),
    _ib("ib.errors", EVENTS, "hw_counters", "rnr_nak_retry_err", "req_transport_retries_exceeded"),
    _ib("ib.errors", BITS, "counters", "symbol_error", "port_rcv_errors", "port_rcv_remote_physical_errors"),
    _ib("ib.errors", BITS, "hw_counters", "rx_icrc_encapsulated"),
    _ib("ib.errors", AGAIN, "hw_counters", "packet_seq_err", "out_of_sequence", "local_ack_timeout_err"),
    _ib("ib.errors", AGAIN, "hw_counters", "roce_slow_restart"),
    _ib("ib.errors", "discards_per_s_max", "counters", "port_xmit_discards"),
    Source(
        code="nic.errors",
        limit="network.errors_per_s_max",
        pattern=f"{NET}/*/statistics",
        names=(
            "rx_errors",
            "rx_crc_errors",
            "rx_frame_errors",
            "rx_length_errors",
            "tx_errors",
            "tx_carrier_errors",
        ),
    ),
    *(
        Source(
            code=f"pcie.aer.{kind}",
            limit=f"pci.aer_{limit}_per_s_max",
            pattern=f"{PCI}/*",
            names=(f"aer_dev_{file}",),
        )
        for kind, file, limit in (
            ("corrected", "correctable", "corrected"),
            ("nonfatal", "nonfatal", "uncorrected"),
            ("fatal", "fatal", "uncorrected"),
        )
    ),
    Source(
        code="host.mce.thermal",
        limit="processor.throttles_per_s_max",
        pattern=f"{CPU}/cpu*/thermal_throttle",
        names=("core_throttle_count", "package_throttle_count"),
    ),
)
WAITS = f"{IB}/*/ports/*/counters/port_xmit_wait"
"""Ticks in which a port had something to send and no credit: congestion, told and not judged."""
_PLACE = re.compile(r"/sys/(?:class/infiniband|class/net|bus/pci/devices|devices/system/cpu)/(.+)/[^/]+$")
_FOLDERS = re.compile(r"/(?:ports|counters|hw_counters|statistics|thermal_throttle)(?=/|$)")


@check(
    "counters.growing",
    cost_s=WAIT_S + 0.3,
    detects={source.code for source in SOURCES},
    expects={source.limit for source in SOURCES},
    stage=Stage.OBSERVE,
    profiles=WITH_LOAD,
)
def growing(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """No error counter of ports, interfaces, PCI devices or processors grows faster than it may.

    A counter that went back was reset, and one that stands at its limit cannot grow: neither is a finding.
    A free port is not looked at. Waiting for credit (``port_xmit_wait``) is told, not judged.
    """
    sources = {path: source for source in SOURCES for path in _paths(host, source)}
    waits = host.glob(WAITS)
    before = {path: _count(host, path) for path in (*sources, *waits)}
    if not sources:
        return NotApplicable("no counter of a port, interface, PCI device or processor is here")
    host.wait(WAIT_S)
    grown: dict[tuple[str, str, str], list[tuple[str, float]]] = defaultdict(list)
    read = 0
    for path, source in sources.items():
        first, second = before[path], _count(host, path)
        read += first is not None and second is not None
        limit = expected.number(source.limit)
        if first is None or second is None or limit is None or second <= first:
            continue
        rate = (second - first) / WAIT_S
        if rate > limit:
            grown[source.code, _place(path), source.limit].append((path.rpartition("/")[2], rate))
    ticks = {path: (before[path], _count(host, path)) for path in waits}
    congestion = {
        _place(path): last - first
        for path, (first, last) in ticks.items()
        if first is not None and last is not None and last > first
    }
    findings = tuple(_finding(key, rates, expected) for key, rates in grown.items())
    looked = {"counters": read, "seconds": WAIT_S, "xmit_wait_ticks": congestion} if read else {}
    return Looked(looked=looked, findings=findings)


def _finding(key: tuple[str, str, str], rates: list[tuple[str, float]], expected: Expected) -> Finding:
    code, place, limit = key
    rows = tuple(f"{name} grows by {rate:g}/s" for name, rate in rates)
    return found(
        code,
        subject=place,
        message=f"{', '.join(rows)}, expected {expected[limit].value:g}/s at most",
        measured=f"{max(rate for _, rate in rates):g} 1/s",
        threshold=expected[limit],
        evidence=rows,
    )


def _paths(host: Host, source: Source) -> list[str]:
    paths = [path for name in source.names for path in host.glob(f"{source.pattern}/{name}")]
    if source.pattern.startswith(NET):  # virtual interfaces have no wire that could break
        return [path for path in paths if host.exists(f"{NET}/{path.split('/')[4]}/device")]
    if source.pattern.startswith(IB):
        return [path for path in paths if "ACTIVE" in read_text(host, f"{path.rsplit('/', 2)[0]}/state")]
    return paths


def _count(host: Host, path: str) -> int | None:
    return count_errors(host, path) if "/aer_dev_" in path else read_number(host, path)


def _place(path: str) -> str:
    """``mlx5_0/1``, ``eth0``, ``0000:41:00.0``, ``cpu3``."""
    match = _PLACE.match(path)
    return _FOLDERS.sub("", match[1]) if match else path
