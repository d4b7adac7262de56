"""Is the host itself fast enough to talk?"""

from __future__ import annotations

import threading

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import WITH_LOAD, Answer, Facts, Looked, check, found
from greenroom.model.results import Finding
from greenroom.model.words import Stage
from greenroom.parsers.fio import Unparsable
from greenroom.parsers.iperf3 import parse_bits_per_s
from greenroom.probes.host import Host, ProbeUnavailable

FIRST_PORT, PORTS = 52010, 200
SETTLE_S = 5.0
TRIES = 20
PAUSE_S = 0.1


@check(
    "loopback.tcp",
    needs={"iperf3"},
    cost_s=1.0,
    load_share=0.02,
    detects={"net.loopback.slow"},
    expects={"network.loopback_gbps_min"},
    stage=Stage.WARN,
    profiles=WITH_LOAD,
)
def tcp(facts: Facts, host: Host, expected: Expected) -> Answer:
    """TCP through the kernel alone, no wire: slow here means that processor or memory is slowed down."""
    seconds = max(1, round(facts.load_s))
    # Several nodes may share one machine in a lab, so the port comes from the clock.
    port = str(FIRST_PORT + int(host.now() * 1000) % PORTS)
    address = ["-p", port, "--bind", "127.0.0.1"]
    server = threading.Thread(
        target=_serve, args=(host, ["iperf3", "-s", "-1", *address], seconds + SETTLE_S), daemon=True
    )
    server.start()
    client = ["iperf3", "-c", "127.0.0.1", "-p", port, "-t", str(seconds), "--json"]
    gbps = _measure(host, client, timeout_s=seconds + SETTLE_S) / 1e9
    server.join(timeout=SETTLE_S)
    limit = expected.number("network.loopback_gbps_min")
    findings: tuple[Finding, ...] = ()
    if limit is not None and gbps < limit:
        findings = (
            found(
                "net.loopback.slow",
                subject="lo",
                message=f"{gbps:.1f} Gbit/s over loopback, expected {limit:g}",
                measured=f"{gbps:.1f} Gbit/s",
                threshold=expected["network.loopback_gbps_min"],
            ),
        )
    return Looked(looked={"gbps": round(gbps, 2), "load_s": seconds}, findings=findings)


def _serve(host: Host, argv: list[str], timeout_s: float) -> None:
    """Run the server until one client is done. What goes wrong here, the client sees and says."""
    try:
        host.run(argv, timeout_s=timeout_s)
    except ProbeUnavailable:
        return


def _measure(host: Host, client: list[str], *, timeout_s: float) -> float:
    """Rate, bit/s. The server may not listen yet: refused at first is no answer."""
    reason = ""
    for _ in range(TRIES):
        ran = host.run(client, timeout_s=timeout_s)
        try:
            return parse_bits_per_s(ran.stdout)
        except Unparsable as error:
            reason = str(error)
            if "refused" not in reason:
                break
            threading.Event().wait(PAUSE_S)
    raise ProbeUnavailable(reason)
