"""Are the adapters as fast as they should be, with no wire between?"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from greenroom.checks.bands import grade, twice
from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.infiniband import ROOT
from greenroom.checks.optional import NOT_INSTALLED, read_text
from greenroom.model.results import Finding
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

if TYPE_CHECKING:
    from greenroom.parsers.perftest import Outcome

FIRST_PORT, PORTS = 18600, 400
SETTLE_S = 10.0
LISTENS_S = 1.0
"""perftest's client gives up at once where nobody listens."""
TESTS = ("ib_write_bw", "ib_write_lat")


@check(
    "infiniband.loopback",
    needs={"ib_write_bw", "ib_write_lat"},
    cost_s=5.0,
    load_share=0.02,
    detects={"ib.loopback.slow", "ib.loopback.failed"},
    expects={"infiniband.loopback_gbps_min", "infiniband.loopback_latency_us_max"},
    stage=Stage.WARN,
    profiles=("full", "burn-in"),
)
def loopback(facts: Facts, host: Host, expected: Expected) -> Answer:
    """Each active adapter writes to itself as fast, and answers as soon, as it should (perftest).

    Slow here, the adapter or its PCI Express link is; a cable or switch plays no part.
    """
    ports = [
        (parts[4], parts[6])
        for path in host.glob(f"{ROOT}/*/ports/*/state")
        if "ACTIVE" in read_text(host, path) and (parts := path.split("/"))
    ]
    if not ports:
        return NotApplicable("no active InfiniBand or RoCE port is here")

    def measure(load_s: float) -> Looked:
        return _all(host, expected, ports, load_s / len(ports) / len(TESTS))

    try:
        return twice(measure, load_s=facts.load_s, host=host, sure=set())
    except ProbeUnavailable as error:
        if str(error).endswith(NOT_INSTALLED):
            return NotApplicable(str(error))
        raise


def _all(host: Host, expected: Expected, ports: list[tuple[str, str]], load_s: float) -> Looked:
    told: dict[str, dict[str, float]] = {}
    findings: list[Finding] = []
    for number, (device, port) in enumerate(ports):
        name = f"{device}/{port}"
        for kind, test in enumerate(TESTS):
            tcp = FIRST_PORT + (int(host.now() * 1000) + 2 * number + kind) % PORTS
            argv = [test, "-d", device, "-i", port, "-p", str(tcp), "-F"]
            argv += ["-D", str(max(1, round(load_s)))] if test == "ib_write_bw" else ["-n", "1000"]
            argv += ["-s", str(8 << 20), "--report_gbits"] if test == "ib_write_bw" else ["-s", "8"]
            outcome = _between(host, argv, timeout_s=load_s + SETTLE_S)
            if outcome.errors:
                message = f"{test}: {outcome.errors[0][1]}"
                findings.append(found("ib.loopback.failed", subject=name, message=message))
            elif not outcome.rows:
                said = outcome.unable or ["no result"]
                raise ProbeUnavailable(f"{test} on {name}: {said[0]:.200}")
            for row in outcome.rows[-1:]:
                fast = row.gbit_per_s is not None
                value = float(row.gbit_per_s if row.gbit_per_s is not None else row.latency_us or 0.0)
                told.setdefault("write_gbps" if fast else "latency_us", {})[name] = round(value, 2)
                limit = "infiniband.loopback_gbps_min" if fast else "infiniband.loopback_latency_us_max"
                one = grade(expected[limit], value, code="ib.loopback.slow", subject=name, what=test)
                findings += [one] if one else []
    return Looked(looked={"figures": told, "comparable": "8 MiB; processor memory"}, findings=tuple(findings))


def _between(host: Host, argv: list[str], *, timeout_s: float) -> Outcome:
    """A server in the background, then its client."""
    said: list[str] = []

    def serve() -> None:
        try:
            host.run(argv, timeout_s=timeout_s)
        except ProbeUnavailable as error:
            said.append(str(error))

    server = threading.Thread(target=serve, daemon=True)
    server.start()
    host.wait(LISTENS_S)
    ran = host.run([*argv, "127.0.0.1"], timeout_s=timeout_s)
    server.join(timeout_s)
    from greenroom.parsers import perftest  # noqa: PLC0415 - only where the tool is

    outcome = perftest.parse_output(f"{ran.stdout}\n{ran.stderr}")
    if not outcome.rows and not outcome.errors and not outcome.unable:
        outcome.unable += [*said, *ran.stderr.strip().splitlines(), f"exit {ran.rc}"][:1]
    return outcome
