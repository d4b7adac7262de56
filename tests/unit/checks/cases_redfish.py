"""The management controller over Redfish: a small service of invented resources."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from cases import bad, good
from healthy import expect

from greenroom.probes.host import Ran
from greenroom.probes.recorded import RecordedHost

URL = "https://bmc.example"
ROOT = "/redfish/v1"
NETRC = "/etc/greenroom/bmc.netrc"
ASKED = expect(bmc__redfish_url=URL, bmc__redfish_netrc=NETRC)
NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC).timestamp()
WELL = {"State": "Enabled", "Health": "OK"}
CRITICAL, WARNING = WELL | {"Health": "Critical"}, WELL | {"Health": "Warning"}


def to(path):
    return {"@odata.id": f"{ROOT}/{path}"}


def collection(*paths):
    return {"Members": [to(path) for path in paths], "Members@odata.count": len(paths)}


def kind(schema, **rest):
    return {"@odata.type": f"#{schema}.v1_2_0.{schema}", **rest}


def entry(number, sensor, message, *, severity="Critical", created="2026-12-01T11:45:00Z", **rest):
    row = {
        "Id": str(number),
        "SensorType": sensor,
        "Message": message,
        "Severity": severity,
        "Created": created,
    }
    return kind("LogEntry", **row, **rest)


def part(name, status, **rest):
    return {"Name": name, "Status": status, **rest}


def resources(
    *entries, fan=WELL, temp=WELL, volt=WELL, supply=WELL, redundancy=WELL, memory=WELL, drive=WELL, cpu=WELL
):
    """Address -> document of a server with one chassis."""
    told = [entry(1, "Memory", "Uncorrectable ECC", created="2026-11-01T08:12:01Z"), *entries]
    unwell = any(one["Health"] != "OK" for one in (memory, drive, cpu))
    system = part("System", WELL | {"HealthRollup": "Critical" if unwell else "OK"})
    fans = [
        part("Fan 1", WELL, Reading=8400, ReadingUnits="RPM"),
        part("Fan 2", fan, Reading=0, ReadingUnits="RPM"),
    ]
    return {
        "": {"Systems": to("Systems"), "Chassis": to("Chassis"), "Managers": to("Managers")},
        "Systems": collection("Systems/1"),
        "Chassis": collection("Chassis/1"),
        "Managers": collection("Managers/1"),
        "Systems/1": kind("ComputerSystem", LogServices=to("Systems/1/Logs"), Memory=to("Systems/1/Memory"),
                          Storage=to("Systems/1/Storage"), Processors=to("Systems/1/Processors"), **system),
        "Systems/1/Memory": collection("Systems/1/Memory/A1"),
        "Systems/1/Memory/A1": kind("Memory", **part("DIMM A1", memory)),
        "Systems/1/Storage": collection("Systems/1/Storage/1"),
        "Systems/1/Storage/1": kind("Storage", Drives=[to("Systems/1/Drives/3")], **part("Storage", drive)),
        "Systems/1/Drives/3": kind("Drive", **part("Drive 3", drive)),
        "Systems/1/Processors": collection("Systems/1/Processors/1"),
        "Systems/1/Processors/1": kind("Processor", **part("CPU 1", cpu)),
        "Systems/1/Logs": collection("Systems/1/LogServices/SEL", "Systems/1/LogServices/Dump"),
        "Systems/1/LogServices/SEL": kind("LogService", Entries=to("Systems/1/LogServices/SEL/Entries")),
        "Systems/1/LogServices/SEL/Entries": {
            "@odata.type": "#LogEntryCollection.LogEntryCollection", "Members": told, "Members@odata.count": len(told),
            **to("Systems/1/LogServices/SEL/Entries"),
        },
        "Chassis/1": kind("Chassis", Thermal=to("Chassis/1/Thermal"), Power=to("Chassis/1/Power"), **part("Chassis", WELL)),
        "Chassis/1/Thermal": kind("Thermal", Fans=fans, Temperatures=[part("Inlet", temp, ReadingCelsius=24)]),
        "Chassis/1/Power": kind("Power", Voltages=[part("P12V", volt, ReadingVolts=12.1)],
                                PowerSupplies=[part("PSU1", WELL), part("PSU2", supply), part("PSU3", {"State": "Absent", "Health": "Critical"})],
                                Redundancy=[part("PowerSupply Redundancy", redundancy)]),
        "Managers/1": kind("Manager", **part("BMC", WELL)),
    }  # fmt: skip


def answer(known, argv):
    """What curl prints for each address in turn."""
    said = ""
    for url in (word for word in argv if word.startswith(URL)):
        document = known.get(url.removeprefix(f"{URL}{ROOT}").strip("/"))
        body, status = (json.dumps(document), 200) if document is not None else ("{}", 404)
        said += f"{body}\n@greenroom {status}\n"
    return Ran(argv=tuple(argv), rc=0, stdout=said, stderr="", seconds=0.0)


def bmc(known, *, mode="600"):
    return RecordedHost(
        files={"/proc/uptime": "7200.0 1.0\n"},
        commands={"curl": lambda argv: answer(known, argv), "stat": f"{mode}\n"},
        clock=NOW,
    )


EVENTS = {
    "host.edac.ue": ("Memory", "Uncorrectable ECC"),
    "host.edac.ce": ("Memory", "Correctable ECC logging limit reached"),
    "host.mce.uncorrected": ("Processor", "IERR"),
    "pcie.aer.fatal": ("Critical Interrupt", "Bus Fatal Error"),
    "pcie.aer.uncorrectable": ("Critical Interrupt", "PCI SERR"),
    "host.watchdog": ("Watchdog 2", "Hard reset"),
    "host.bmc": ("OEM", "Something of which no rule knows"),
}
PARTS = {
    "fan": "host.fan",
    "temp": "host.temperature",
    "volt": "host.power",
    "supply": "host.power.supply",
    "redundancy": "host.power.redundancy",
    "memory": "host.memory.module",
    "drive": "disk.fault",
    "cpu": "host.bmc",
}
TAKEN_BACK = (
    entry(7, "Power Supply", "Power Supply AC lost", created="2026-12-01T11:30:00Z", EntryCode="Assert"),
    entry(8, "Power Supply", "Power Supply AC lost", severity="OK", created="2026-12-01T11:31:00Z", EntryCode="Deassert"),
    entry(9, "Fan", "Lower Critical going low", Resolved=True),
    entry(10, "Slot", "Device inserted", severity="OK"),
)  # fmt: skip
CASES = [
    good(
        "bmc.redfish",
        "all is well, and what was not is over",
        host=bmc(resources(*TAKEN_BACK)),
        expected=ASKED,
    ),
    good("bmc.redfish", "a warm inlet", host=bmc(resources(temp=WARNING)), expected=ASKED),
    *(
        bad(
            "bmc.redfish",
            code,
            f"{name} is critical",
            host=bmc(resources(**{name: CRITICAL})),
            expected=ASKED,
        )
        for name, code in PARTS.items()
    ),
    bad(
        "bmc.redfish",
        "host.power.supply",
        "no input: a warning",
        host=bmc(resources(supply=WARNING)),
        expected=ASKED,
    ),
    *(
        bad("bmc.redfish", code, f"{code} in the log", host=bmc(resources(entry(2, *words))), expected=ASKED)
        for code, words in EVENTS.items()
    ),
]
