"""Container runtimes, kubelet, slurmd, the management controller, the kernel's log."""

from __future__ import annotations

import importlib.util
from datetime import UTC, datetime
from pathlib import Path

from cases import bad, good
from cases_network import host
from cases_storage import ran
from healthy import expect

from greenroom.checks.kernel_log import LAST_XID, SWITCH_CODES
from greenroom.probes.recorded import RecordedHost

CONTAINERD = {"/run/containerd/containerd.sock": ""}
DOCKER = {"/run/docker.sock": ""}
BOTH = expect(containers__runtimes=["containerd", "docker"])
CDI, TOOLKIT = expect(containers__cdi=True), expect(containers__toolkit=True)


def spec(version):
    text = f"kind: nvidia.com/gpu\n  - hostPath: /usr/lib/x86_64-linux-gnu/libcuda.so.{version}\n"
    return host({"/var/run/cdi/nvidia.yaml": text})


KUBELET = {"/var/lib/kubelet/config.yaml": ""}
SLURM = {"/etc/slurm/slurm.conf": "", "/proc/sys/kernel/hostname": "gpu05.example\n"}
SHOWN = "NodeName=gpu05 Arch=x86_64 State={}{} ThreadsPerCore=2\n"


def slurm(state, reason=""):
    text = SHOWN.format(state, "") + (f"   Reason={reason} [slurm@2026-12-01T12:48:00]\n" if reason else "")
    return host(SLURM, scontrol=text)


NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC).timestamp()
HOUR_S = 3600.0
OLD = "   1 | 11/01/2026 | 08:12:01 | Memory DIMM_A1 | Uncorrectable ECC | Asserted\n"
ENDED = (
    "   2 | 12/01/2026 | 11:30:00 | Power Supply PS2 | Power Supply AC lost | Asserted\n"
    "   3 | 12/01/2026 | 11:31:00 | Power Supply PS2 | Power Supply AC lost | Deasserted\n"
    "   4 |  Pre-Init  |0000000012| Power Supply PS1 | Power Supply AC lost | Asserted\n"
)
INFO = "SEL Information\nEntries          : 40\nPercent Used     : {}%\nOverflow         : false\n"


def events(sensor="", event="", *, used=12):
    rows = OLD + ENDED
    if sensor:
        rows += f"   5 | 12/01/2026 | 11:45:00 | {sensor} | {event} | Asserted\n"
    return RecordedHost(
        files={"/dev/ipmi0": "", "/proc/uptime": "7200.0 1.0\n"},
        commands={
            "env TZ=UTC ipmitool sel elist last": rows,
            "env TZ=UTC ipmitool sel info": INFO.format(used),
        },
        clock=NOW,
    )


EVENTS = {
    "host.edac.ue": ("Memory DIMM_B2", "Uncorrectable ECC"),
    "host.edac.ce": ("Memory DIMM_B2", "Correctable ECC logging limit reached"),
    "host.memory.module": ("Memory DIMM_B2", "Memory Device Disabled"),
    "host.mce.uncorrected": ("Processor CPU1 Status", "IERR"),
    "pcie.aer.fatal": ("Critical Interrupt PCIE", "Bus Fatal Error"),
    "pcie.aer.uncorrectable": ("Critical Interrupt PCIE", "PCI SERR"),
    "host.power.redundancy": ("Power Unit Redundancy", "Redundancy Lost"),
    "host.power.supply": ("Power Supply PS1", "Power Supply AC lost"),
    "host.fan": ("Fan Fan4", "Lower Critical going low"),
    "host.temperature": ("Temperature Inlet Temp", "Upper Critical going high"),
    "disk.fault": ("Drive Slot / Bay 3", "Drive Fault"),
    "host.watchdog": ("Watchdog 2 IPMI Watchdog", "Hard reset"),
}
SDR = """\
Inlet Temp       | 04h | ok  |  7.1 | 24 degrees C
PS1 Status       | C8h | ok  | 10.1 | Presence detected
PS Redundancy    | 77h | ok  |  7.1 | Fully Redundant
Fan 1            | 30h | ok  | 29.1 | 8400 RPM
NVMe Backplane   | 91h | ns  | 26.0 | No Reading
Exhaust Temp     | 05h | nc  |  7.1 | 71 degrees C
"""
SENSORS = {
    "host.fan": "Fan 2            | 31h | cr  | 29.2 | 0 RPM\n",
    "host.temperature": "CPU1 Temp        | 0Eh | ucr |  3.1 | 97 degrees C\n",
    "host.power": "P12V             | 60h | lcr |  7.1 | 10.60 Volts\n",
    "host.power.redundancy": "PS Redundancy    | 78h | ok  |  7.2 | Redundancy Lost\n",
    "host.power.supply": "PS2 Status       | C9h | ok  | 10.2 | Presence detected, Failure detected\n",
    "disk.fault": "Drive 3          | D3h | ok  | 26.3 | Drive Present, Drive Fault\n",
    "host.mce.uncorrected": "CPU1 Status      | 80h | ok  |  3.1 | IERR\n",
    "host.bmc": "Chassis Intru    | 90h | nr  | 23.1 | 1 unspecified\n",
}


def sensors(row=""):
    return RecordedHost(files={"/dev/ipmi0": ""}, commands={"env TZ=UTC ipmitool sdr elist": SDR + row})


def log(text, *, at_s=5000):
    records = "\\x0a".join(text.splitlines())
    files = {
        "/dev/kmsg": f"6,1,100,-;Linux version 6.8\n3,2,{at_s * 10**6},-;{records}\n",
        "/proc/uptime": "7200.0 1.0\n",
    }
    return RecordedHost(files=files, clock=NOW)


def _lines():
    """Line of a driver -> code, from the tests of the rules: a new rule there is a new case here."""
    path = Path(__file__).parents[2] / "parsers" / "test_kernel_faults.py"
    found = importlib.util.spec_from_file_location("lines_of_drivers", path)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return {line: code for line, (code, *_) in module.LINES.items()}


AMD = "amdgpu 0000:c3:00.0: amdgpu:"
DRIVERS = _lines() | {
    "[Hardware Error]: Corrected error, no action required. MCE error: Corrected error, no action required, "
    "CPU 3, bank 17": "host.mce.corrected",
    "nvme1n1: I/O Cmd(0x2) @ LBA 8, 8 blocks, I/O Error (sct 0x2 / sc 0x86)": "nvme.access_denied",
    f"{AMD} {{1}}[Hardware Error]: Accelerator Check Architecture events logged": "gpu.amd.aca",
    f"{AMD} GPU reset(2) failed": "gpu.amd.reset_failed",
}
SXID = "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): {}, Non-fatal, Link 32 reports an error"
XID = "NVRM: Xid (PCI:0000:1a:00): {}, pid=1, name=x, something"
ASKED = "NVRM: Xid (PCI:0000:1a:00): 154, GPU recovery action changed from 0x0 (None) to 0x{} (x)"
RECOVERY = {"reset": 1, "reboot": 2, "drain": 4, "other": 5}
CASES = [
    good("containers.runtime", "answers", host=host(CONTAINERD, crictl="RuntimeName: containerd\n")),
    bad("containers.runtime", "host.container.runtime", "is not there", host=host(DOCKER, docker="26.1\n"), expected=BOTH),
    bad(
        "containers.runtime",
        "host.container.runtime",
        "refuses",
        host=host(CONTAINERD, crictl=ran(rc=1, stderr="connection refused")),
    ),
    good("containers.cdi", "of the driver in use", host=spec("570.124.06"), expected=CDI),
    bad("containers.cdi", "host.container.cdi", "of an older driver", host=spec("550.54.15"), expected=CDI),
    bad("containers.cdi", "host.container.cdi", "not made", host=host({}), expected=CDI),
    good("containers.toolkit", "there", host=host({"/usr/bin/nvidia-ctk": ""}), expected=TOOLKIT),
    bad("containers.toolkit", "host.container.toolkit", "not there", host=host({}), expected=TOOLKIT),
    good("kubelet.healthy", "ok", host=host(KUBELET, curl="ok")),
    bad("kubelet.healthy", "host.kubelet", "is not started", host=host(KUBELET, curl=ran(rc=7, stderr="refused"))),
    bad("kubelet.healthy", "host.kubelet", "sick", host=host(KUBELET, curl="[-]syncloop failed")),
    good("slurm.node", "in use", host=slurm("ALLOCATED")),
    good("slurm.node", "drained by somebody", host=slurm("IDLE+DRAIN", "fan replacement")),
    bad("slurm.node", "slurm.node.config", "another line in slurm.conf", host=slurm("IDLE+INVALID_REG")),
    bad("slurm.node", "slurm.node.not_responding", "no answer", host=slurm("DOWN+NOT_RESPONDING", "Not responding")),
    bad("slurm.node", "slurm.node.low_memory", "little memory", host=slurm("IDLE+DRAIN", "Low RealMemory")),
    bad("slurm.node", "slurm.node.low_resources", "few cores", host=slurm("IDLE+DRAIN", "Low socket*core*thread count")),
    bad(
        "slurm.node",
        "slurm.node.gres_missing",
        "few GPUs",
        host=slurm("IDLE+DRAIN", "gres/gpu count reported lower than configured (7 < 8)"),
    ),
    good("bmc.events", "old ones, and ones that ended", host=events()),
    good("bmc.events", "before the admission", host=events(*EVENTS["host.fan"]), since=NOW),
    *(bad("bmc.events", code, f"{code} by event", host=events(*words)) for code, words in EVENTS.items()),
    bad("bmc.events", "host.fan", "after the admission", host=events(*EVENTS["host.fan"]), since=NOW - HOUR_S),
    bad("bmc.events", "host.bmc.full", "no room for more", host=events(used=91)),
    good("bmc.sensors", "one is warm", host=sensors()),
    *(bad("bmc.sensors", code, f"{code} by sensor", host=sensors(row)) for code, row in SENSORS.items()),
    good("kernel_log.host", "an ordinary boot", host=log("nvme nvme0: 16/0/0 default/read/poll queues")),
    good("kernel_log.host", "before the admission", host=log("INFO: task x:1 blocked for more than 122 seconds."), since=NOW),
    good("kernel_log.host", "an Xid is for another check", host=log(XID.format(79))),
    *(
        bad("kernel_log.host", code, f"{code} in line {index}", host=log(line))
        for index, (line, code) in enumerate(DRIVERS.items())
    ),
    good("kernel_log.nvswitch", "no SXid", host=log("nvidia-nvswitch3: using MSI")),
    good("kernel_log.nvswitch", "before the admission", host=log(SXID.format(12028)), since=NOW),
    *(
        bad("kernel_log.nvswitch", code, code, host=log(SXID.format(code.rpartition(".")[2])))
        for code in sorted(SWITCH_CODES)
    ),
    good("kernel_log.xid", "no Xid", host=log("NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.124.06")),
    good("kernel_log.xid", "before the admission", host=log(XID.format(79)), since=NOW),
    *(
        bad("kernel_log.xid", f"gpu.xid.{number}", f"Xid {number}", host=log(XID.format(number)))
        for number in range(1, LAST_XID + 1)
    ),
    *(
        bad("kernel_log.xid", f"gpu.recovery.{what}", f"asks for {what}", host=log(ASKED.format(number)))
        for what, number in RECOVERY.items()
    ),
]  # fmt: skip
