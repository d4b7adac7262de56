"""The PCI bus, and counters that grow between two readings."""

from __future__ import annotations

from cases import bad, good
from cases_network import host, interface, port
from healthy import expect

from greenroom.probes.recorded import RecordedHost

PCI, CPU = "/sys/bus/pci/devices", "/sys/devices/system/cpu"
BRIDGE, CARD = "0000:40:01.1", "0000:41:00.0"


def device(
    name=CARD, *, link="32.0 GT/s PCIe", width=16, most=16, kind="0x020700", header="\x15\ufffd3\x10" * 16
):
    fields = {
        "class": kind,
        "vendor": "0x15b3",
        "device": "0x1021",
        "config": header,
        "current_link_speed": link,
        "current_link_width": width,
        "max_link_speed": "32.0 GT/s PCIe",
        "max_link_width": most,
        "numa_node": 1,
    }
    return {f"{PCI}/{name}/{field}": f"{text}\n" for field, text in fields.items()}


def slot(width=16):
    files = device(BRIDGE, kind="0x060400", most=width, width=width)
    return files | {f"{PCI}/{BRIDGE}/{CARD}/max_link_width": "16\n"}


DECLARED = expect(pci__links=["15b3:1021=5x16"])
TWO = expect(pci__devices=["15B3:1021=2"])


def aer(kind, total):
    rows = f"Undefined 0\nDLP {total}\nSDES 0\nTOTAL_ERR_{kind.upper()} {total}\n"
    return {f"{PCI}/{CARD}/aer_dev_{kind}": rows}


def group(mode):
    return host({f"/sys/kernel/iommu_groups/{index}/type": f"{mode}\n" for index in range(3)})


LSPCI = """\
00:01.0 PCI bridge: Advanced Micro Devices, Inc. [AMD] Device 14a5 (rev 01)
\tCapabilities: [2a0 v1] Access Control Services
\t\tACSCap:\tSrcValid+ TransBlk+ ReqRedir+
\t\tACSCtl:\tSrcValid{} TransBlk- ReqRedir{}
41:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]
\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+
"""
NO_ACS = expect(pci__acs_off=True)


def grows(path, first, second, *others):
    files = host(port(), interface(), *others).files
    return lambda: RecordedHost(files={**files, path: f"{first}\n"}, later={path: f"{second}\n"})


COUNTERS, HW = (
    "/sys/class/infiniband/mlx5_0/ports/1/counters",
    "/sys/class/infiniband/mlx5_0/ports/1/hw_counters",
)
STATISTICS = "/sys/class/net/eth0/statistics"
FATAL, NONFATAL, CORRECTED = (f"{PCI}/{CARD}/aer_dev_{kind}" for kind in ("fatal", "nonfatal", "correctable"))
GROWING = "counters.growing"
CASES = [
    good("pci.answering", "an adapter", host=host(device())),
    good(
        "pci.answering",
        "a GPU that sleeps",
        host=host(device(width=63), {f"{PCI}/{CARD}/power_state": "D3cold"}, device("0000:42:00.0")),
    ),
    bad(
        "pci.answering",
        "pcie.config_unreadable",
        "it reads all ones",
        host=host(device(header="\ufffd" * 64, width=63)),
    ),
    bad(
        "pci.answering",
        "pcie.config_unreadable",
        "its header cannot be read",
        host=host(device(header="", width=63)),
    ),
    good("pci.devices", "two of two", host=host(device(), device("0000:42:00.0")), expected=TWO),
    bad("pci.devices", "pcie.missing", "one of two", host=host(device()), expected=TWO),
    good("pci.links", "at full width", host=host(device(), slot())),
    good("pci.links", "in a narrow slot", host=host(device(width=8), slot(8))),
    bad("pci.links", "pcie.link_degraded", "lost half its lanes", host=host(device(width=8), slot())),
    bad(
        "pci.links",
        "pcie.link_degraded",
        "two generations back",
        host=host(device(link="8.0 GT/s PCIe"), slot()),
    ),
    bad(
        "pci.links",
        "pcie.link_degraded",
        "declared wider",
        host=host(device(width=8), slot(8)),
        expected=DECLARED,
    ),
    good("pci.errors", "none", host=host(aer("fatal", 0), aer("nonfatal", 3))),
    bad("pci.errors", "pcie.aer.fatal", "a fatal one", host=host(aer("fatal", 1))),
    bad(
        "pci.errors",
        "pcie.aer.nonfatal",
        "more than the site allows",
        host=host(aer("nonfatal", 3)),
        expected=expect(pci__aer_nonfatal_max=2),
    ),
    good("pci.iommu", "passes through", host=group("identity"), expected=expect(pci__iommu="identity")),
    good("pci.iommu", "off", host=host({}), expected=expect(pci__iommu="off")),
    bad(
        "pci.iommu",
        "host.iommu.mode",
        "translates",
        host=group("DMA-FQ"),
        expected=expect(pci__iommu="identity"),
    ),
    good("pci.acs", "off on the bridge", host=host({}, lspci=LSPCI.format("-", "-")), expected=NO_ACS),
    bad("pci.acs", "pcie.acs", "on", host=host({}, lspci=LSPCI.format("+", "+")), expected=NO_ACS),
    good(GROWING, "symbol errors, few", host=grows(f"{COUNTERS}/symbol_error", 400, 410)),
    good(GROWING, "a counter was reset", host=grows(f"{COUNTERS}/link_downed", 7, 0)),
    good(GROWING, "a counter at its end", host=grows(f"{COUNTERS}/symbol_error", 65535, 65535)),
    good(GROWING, "64 bits wide", host=grows(f"{COUNTERS}/symbol_error", 2**40, 2**40 + 1)),
    good(GROWING, "waits for credit", host=grows(f"{COUNTERS}/port_xmit_wait", 5, 5_000_000)),
    bad(GROWING, "ib.port.flapping", "a link goes down", host=grows(f"{COUNTERS}/link_downed", 7, 8)),
    bad(
        GROWING,
        "ib.port.flapping",
        "a link is trained anew",
        host=grows(f"{COUNTERS}/link_error_recovery", 0, 1),
    ),
    bad(GROWING, "ib.errors", "many symbol errors", host=grows(f"{COUNTERS}/symbol_error", 400, 411)),
    bad(GROWING, "ib.errors", "out of sequence", host=grows(f"{HW}/out_of_sequence", 0, 900)),
    bad(GROWING, "ib.errors", "retries ended", host=grows(f"{HW}/rnr_nak_retry_err", 0, 1)),
    bad(GROWING, "nic.errors", "damaged packets", host=grows(f"{STATISTICS}/rx_crc_errors", 0, 11)),
    bad(GROWING, "pcie.aer.fatal", "fatal", host=grows(FATAL, "TOTAL_ERR_FATAL 0", "TOTAL_ERR_FATAL 1")),
    bad(
        GROWING,
        "pcie.aer.nonfatal",
        "not fatal",
        host=grows(NONFATAL, "TOTAL_ERR_NONFATAL 0", "TOTAL_ERR_NONFATAL 1"),
    ),
    bad(
        GROWING,
        "pcie.aer.corrected",
        "corrected",
        host=grows(CORRECTED, "TOTAL_ERR_COR 0", "TOTAL_ERR_COR 50"),
    ),
    bad(
        GROWING,
        "host.mce.thermal",
        "a core is slowed down",
        host=grows(f"{CPU}/cpu3/thermal_throttle/core_throttle_count", 7, 9),
    ),
]
