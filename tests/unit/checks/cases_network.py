"""InfiniBand, Ethernet, bonds, adapters."""

from __future__ import annotations

import json

from cases import bad, good
from healthy import expect

from greenroom.probes.recorded import RecordedHost

IB, NET, BONDING = "/sys/class/infiniband", "/sys/class/net", "/proc/net/bonding"


def port(name="mlx5_0", **changes):
    fields = {
        "state": "4: ACTIVE",
        "phys_state": "5: LinkUp",
        "rate": "400 Gb/sec (4X NDR)",
        "link_layer": "InfiniBand",
        "sm_lid": "0x1",
        "counters/link_downed": "1",
        "pkeys/0": "0xffff",
        "pkeys/1": "0x8012",
        "pkeys/2": "0x0000",
    }
    return {f"{IB}/{name}/ports/1/{field}": f"{text}\n" for field, text in (fields | changes).items()}


def adapter(name, *, firmware="28.39.2048", board="MT_0000000838"):
    return {f"{IB}/{name}/fw_ver": f"{firmware}\n", f"{IB}/{name}/board_id": f"{board}\n"}


def host(*parts, **commands):
    files = {path: text for part in parts for path, text in part.items()}
    return RecordedHost(files=files, commands=commands)


PORTS = expect(
    infiniband__ports=["mlx5_0/1"],
    infiniband__rate_gbps_min=400,
    infiniband__lanes_min=4,
    infiniband__link_layer="InfiniBand",
    infiniband__count=2,
)
DOWN = {"state": "1: DOWN", "phys_state": "2: Polling"}
INIT = {"state": "2: INIT"}
FREE = port("mlx5_1", **DOWN)
ROCE = port("mlx5_1", link_layer="Ethernet", sm_lid="0x0")
PKEYS = expect(infiniband__pkeys=["0x8012"])


def interface(name="eth0", **changes):
    fields = {
        "operstate": "up",
        "speed": "200000",
        "carrier_changes": "3",
        "mtu": "9000",
        "device/vendor": "0x15b3",
    }
    return {f"{NET}/{name}/{field}": f"{text}\n" for field, text in (fields | changes).items()}


LINKS = expect(network__links=["eth0"], network__speed_mbps_min=200000)
BOND = """\
Ethernet Channel Bonding Driver: v6.8.0

Bonding Mode: {mode}
MII Status: {bond}

802.3ad info
LACP rate: fast
Active Aggregator Info:
        Aggregator ID: 1
        Number of ports: 2
        Partner Mac Address: {partner}

Slave Interface: eth0
MII Status: up
Speed: 25000 Mbps
Link Failure Count: 2
Aggregator ID: 1

Slave Interface: eth1
MII Status: {member}
Speed: 25000 Mbps
Link Failure Count: 0
Aggregator ID: {aggregator}
"""
LACP = "IEEE 802.3ad Dynamic link aggregation"
LACP_ONLY = expect(network__bond_mode="802.3ad")


def bond(*, mode=LACP, bond="up", member="up", aggregator=1, partner="00:1c:73:00:00:99", mtu=9000):
    text = BOND.format(mode=mode, bond=bond, member=member, aggregator=aggregator, partner=partner)
    files = {
        f"{BONDING}/bond0": text,
        f"{NET}/bond0/mtu": "9000\n",
        f"{NET}/bond0/bonding/slaves": "eth0 eth1\n",
    }
    return host(files, interface("eth0"), interface("eth1", mtu=str(mtu)))


def card(driver="mlx5_core", version="24.10-1.1.4", firmware="28.43.1014 (MT_0000000838)"):
    text = f"driver: {driver}\nversion: {version}\nfirmware-version: {firmware}\nbus-info: 0000:9a:00.0\n"
    return RecordedHost(files=interface(), commands={"ethtool -i eth0": text})


VERSIONS = expect(network__drivers=["mlx5_core=24.10"], network__firmware=["mlx5_core=28.43"])


def iperf(bits):
    data = json.dumps({"end": {"sum_received": {"bits_per_second": bits}}})
    return RecordedHost(commands={"iperf3 -c": data, "iperf3 -s": ""})


CASES = [
    good("infiniband.ports", "a port, and a free one", host=host(port(), FREE), expected=PORTS),
    good("infiniband.ports", "RoCE knows no subnet manager", host=host(ROCE)),
    good(
        "infiniband.ports",
        "its network interface is down",
        host=host(port(), interface("ibp26s0", operstate="down")),
    ),
    bad("infiniband.ports", "ib.missing", "one of two", host=host(port()), expected=PORTS),
    bad(
        "infiniband.ports",
        "ib.port.down",
        "looks for its peer",
        host=host(port(**DOWN), FREE),
        expected=PORTS,
    ),
    bad("infiniband.ports", "ib.port.down", "not set up", host=host(port(**INIT), FREE), expected=PORTS),
    bad("infiniband.ports", "ib.port.down", "is not there", host=host(FREE, port("mlx5_2")), expected=PORTS),
    bad(
        "infiniband.ports",
        "ib.port.slow",
        "at half its rate",
        host=host(port(rate="200 Gb/sec (4X HDR)"), FREE),
        expected=PORTS,
    ),
    bad(
        "infiniband.ports",
        "ib.port.slow",
        "with half its lanes",
        host=host(port(rate="400 Gb/sec (2X XDR)"), FREE),
        expected=PORTS,
    ),
    bad(
        "infiniband.ports",
        "ib.port.layer",
        "set to Ethernet",
        host=host(port(link_layer="Ethernet", sm_lid="0x0"), FREE),
        expected=PORTS,
    ),
    bad("infiniband.ports", "ib.port.init", "cable in, nobody sets it up", host=host(port(**INIT))),
    bad(
        "infiniband.ports",
        "ib.port.recovery",
        "repairs its link",
        host=host(port(phys_state="6: LinkErrorRecovery")),
    ),
    bad("infiniband.ports", "ib.port.no_sm", "the subnet manager is gone", host=host(port(sm_lid="0x0"))),
    good("infiniband.firmware", "both alike", host=host(adapter("mlx5_0"), adapter("mlx5_1"))),
    good(
        "infiniband.firmware",
        "two boards, two versions",
        host=host(adapter("mlx5_0"), adapter("mlx5_1", firmware="20.1", board="MT_0000000224")),
    ),
    bad(
        "infiniband.firmware",
        "ib.firmware.mixed",
        "one was forgotten",
        host=host(adapter("mlx5_0"), adapter("mlx5_1", firmware="28.36.1010")),
    ),
    bad(
        "infiniband.firmware",
        "ib.port.firmware",
        "of another version than declared",
        host=host(adapter("mlx5_0")),
        expected=expect(infiniband__firmware=["MT_0000000838=28.43.1014"]),
    ),
    bad(
        "infiniband.firmware",
        "ib.port.firmware",
        "one version for all boards",
        host=host(adapter("mlx5_0", firmware="28.43.1014"), adapter("mlx5_1", board="X")),
        expected=expect(infiniband__firmware=["28.43.1014"]),
    ),
    good("infiniband.pkeys", "in the partition", host=host(port(), FREE, ROCE), expected=PKEYS),
    good("infiniband.pkeys", "as limited member", host=host(port(**{"pkeys/1": "0x0012"})), expected=PKEYS),
    bad(
        "infiniband.pkeys",
        "ib.port.pkey",
        "in the default partition only",
        host=host(port(**{"pkeys/1": "0x0000"})),
        expected=PKEYS,
    ),
    good("infiniband.flaps", "went down once", host=host(port())),
    good(
        "infiniband.flaps",
        "a free port that went down often",
        host=host(port(), port("mlx5_1", **DOWN, **{"counters/link_downed": "99"})),
    ),
    bad(
        "infiniband.flaps",
        "ib.port.flapping",
        "the counter stands at its end",
        host=host(port(**{"counters/link_downed": "255"})),
    ),
    good("network.links", "up", host=host(interface()), expected=LINKS),
    bad("network.links", "net.link.down", "down", host=host(interface(operstate="down")), expected=LINKS),
    bad("network.links", "net.link.slow", "slow", host=host(interface(speed="100000")), expected=LINKS),
    bad("network.links", "net.link.flapping", "flaps", host=host(interface(carrier_changes="21"))),
    good(
        "network.count",
        "two of two",
        host=host(interface("eth0"), interface("eth1")),
        expected=expect(network__count=2),
    ),
    bad(
        "network.count",
        "nic.missing",
        "one of two",
        host=host(interface()),
        expected=expect(network__count=2),
    ),
    good("network.versions", "as declared", host=card(), expected=VERSIONS),
    bad(
        "network.versions",
        "nic.driver.version",
        "older driver",
        host=card(version="23.07"),
        expected=VERSIONS,
    ),
    bad(
        "network.versions",
        "nic.firmware",
        "older firmware",
        host=card(firmware="28.36.1010"),
        expected=VERSIONS,
    ),
    bad(
        "network.versions",
        "nic.driver.absent",
        "another driver",
        host=card(driver="bnxt_en"),
        expected=VERSIONS,
    ),
    good("bonds.members", "two members, failed before", host=bond(), expected=LACP_ONLY),
    bad("bonds.members", "nic.bond.member_down", "one is down", host=bond(member="down")),
    bad(
        "bonds.members",
        "nic.bond.down nic.bond.member_down",
        "all is down",
        host=bond(bond="down", member="down"),
    ),
    bad("bonds.members", "nic.bond.split", "two aggregates", host=bond(aggregator=2)),
    bad(
        "bonds.members",
        "nic.bond.no_partner",
        "the switch knows no LACP",
        host=bond(partner="00:00:00:00:00:00"),
    ),
    bad(
        "bonds.members",
        "nic.bond.mode",
        "another mode",
        host=bond(mode="fault-tolerance (active-backup)", partner="x"),
        expected=LACP_ONLY,
    ),
    good("bonds.mtu", "as declared", host=bond(), expected=expect(network__mtu=["eth0=9000"])),
    bad("bonds.mtu", "nic.mtu", "smaller", host=bond(), expected=expect(network__mtu=["eth0=9216"])),
    bad(
        "bonds.mtu", "nic.mtu", "no such interface", host=bond(), expected=expect(network__mtu=["eth7=9000"])
    ),
    bad("bonds.mtu", "nic.mtu", "a member below its bond", host=bond(mtu=1500)),
    good("loopback.tcp", "fast", host=iperf(23e9)),
    bad("loopback.tcp", "net.loopback.slow", "slow", host=iperf(1e9)),
]
