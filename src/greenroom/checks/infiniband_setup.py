"""InfiniBand adapters: firmware, partition keys, and how often their links went down since the boot."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.infiniband import ROOT
from greenroom.checks.optional import number_of, read_number, read_text, split_pairs
from greenroom.model.results import Finding, Json
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

NOTHING = "no InfiniBand device is here"


@check(
    "infiniband.firmware",
    cost_s=0.02,
    detects={"ib.port.firmware", "ib.firmware.mixed"},
    expects={"infiniband.firmware"},
    stage=Stage.WARN,
)
def firmware(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Adapters of one board (``board_id``) have the same firmware, and the expected one if any is."""
    wanted = split_pairs(expected.texts("infiniband.firmware"))
    devices = [path.split("/")[-2] for path in host.glob(f"{ROOT}/*/fw_ver")]
    if not devices:
        if wanted:
            raise ProbeUnavailable(f"{ROOT}: no device says which firmware it has")
        return NotApplicable(NOTHING)
    versions = {name: read_text(host, f"{ROOT}/{name}/fw_ver") for name in devices}
    boards: dict[str, list[str]] = {}
    for name in devices:
        boards.setdefault(read_text(host, f"{ROOT}/{name}/board_id") or "unknown", []).append(name)
    findings: list[Finding] = []
    for board, names in boards.items():
        # "board=version", or a version alone, which is meant for all.
        right = wanted.get(board) or next((name for name, value in wanted.items() if not value), "")
        findings += [
            found(
                "ib.port.firmware",
                subject=name,
                message=f"firmware {versions[name]}, expected {right}",
                measured=versions[name],
                threshold=expected["infiniband.firmware"],
            )
            for name in names
            if right and versions[name] != right
        ]
        if not right and len({versions[name] for name in names}) > 1:
            text = ", ".join(f"{name} {versions[name]}" for name in names)
            findings.append(found("ib.firmware.mixed", subject=board, message=text, measured=text))
    return Looked(looked={"firmware": versions}, findings=tuple(findings))


@check(
    "infiniband.pkeys",
    cost_s=0.05,
    detects={"ib.port.pkey"},
    expects={"infiniband.pkeys"},
    stage=Stage.WARN,
)
def pkeys(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Every active InfiniBand port is in the partitions that jobs use, as full or limited member."""
    wanted = {
        int(number_of(text, "infiniband.pkeys")) & 0x7FFF for text in expected.texts("infiniband.pkeys")
    }
    if not wanted:
        return NotApplicable("no partition key is expected")
    looked: Json = {}
    findings: list[Finding] = []
    for path in host.glob(f"{ROOT}/*/ports/*/state"):
        port = path.removesuffix("/state")
        name = port.removeprefix(f"{ROOT}/").replace("/ports/", "/")
        if "ACTIVE" not in read_text(host, path) or read_text(host, f"{port}/link_layer") == "Ethernet":
            continue
        keys = {read_number(host, key) or 0 for key in host.glob(f"{port}/pkeys/*")}
        looked[name] = sorted(f"{key:#06x}" for key in keys if key)
        lacking = sorted(wanted - {key & 0x7FFF for key in keys})
        if lacking:
            text = ", ".join(f"{key:#06x}" for key in lacking)
            findings.append(
                found(
                    "ib.port.pkey",
                    subject=name,
                    message=f"the port is not in partition {text}",
                    measured=", ".join(looked[name]) or "none",
                    threshold=expected["infiniband.pkeys"],
                )
            )
    if not looked:
        raise ProbeUnavailable("no active InfiniBand port to read partition keys of")
    return Looked(looked=looked, findings=tuple(findings))


@check(
    "infiniband.flaps",
    cost_s=0.02,
    detects={"ib.port.flapping"},
    expects={"infiniband.link_downed_max"},
    stage=Stage.WARN,
)
def flaps(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """The link of no active port went down often (``link_downed``) since its counters began.

    Old adapters count to 255 and stop there; that is over the limit, too.
    """
    looked: Json = {}
    findings: list[Finding] = []
    limit = expected.number("infiniband.link_downed_max")
    for path in host.glob(f"{ROOT}/*/ports/*/counters/link_downed"):
        port = path.removesuffix("/counters/link_downed")
        times = read_number(host, path)
        if times is None or "ACTIVE" not in read_text(host, f"{port}/state"):
            continue  # a free port counts each time somebody tries its cable
        name = port.removeprefix(f"{ROOT}/").replace("/ports/", "/")
        looked[name] = times
        if limit is not None and times > limit:
            findings.append(
                found(
                    "ib.port.flapping",
                    subject=name,
                    message=f"the link went down {times} times",
                    measured=str(times),
                    threshold=expected["infiniband.link_downed_max"],
                )
            )
    if not looked:
        return NotApplicable("no active InfiniBand port counts how often its link went down")
    return Looked(looked=looked, findings=tuple(findings))
