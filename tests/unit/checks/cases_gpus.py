"""GPUs, as NVML and the kernel's log show them."""

from cases import bad, good
from healthy import expect, gpus

from greenroom.faults import codes
from greenroom.probes.nvml import LOST, RESET_REQUIRED, Driver
from greenroom.probes.recorded import RecordedHost

FIRST_LINE = "6,1,0,-;Linux version 6.1\n"
XID = "NVRM: Xid (PCI:0000:1c:00): {number}, pid=1, name=x, text"
RECOVERY = "GPU recovery action changed from 0x0 (None) to {action}"
ACTIONS = {
    "gpu.recovery.reset": "0x1 (GPU Reset Required)",
    "gpu.recovery.reboot": "0x2 (Node Reboot Required)",
    "gpu.recovery.drain": "0x3 (Drain P2P)",
    "gpu.recovery.other": "0x9 (Something New)",
}


def kmsg(*lines: str, at_s: float = 50.0) -> RecordedHost:
    """A machine up for 100 s, at time 1000, whose kernel wrote these lines."""
    text = FIRST_LINE + "".join(f"4,2,{int(at_s * 1e6)},-;{line}\n" for line in lines)
    return RecordedHost(files={"/dev/kmsg": text, "/proc/uptime": "100.0 1.0\n"}, clock=1000.0)


def xid(number: int, text: str = "text") -> str:
    """The line of an Xid of GPU 2."""
    return XID.format(number=number).replace("text", text)


CASES = [
    good("gpu_count.all_answer", "all eight answer"),
    bad("gpu_count.all_answer", "gpu.missing", "seven of eight", gpus=gpus(count=7)),
    bad("gpu_count.all_answer", "gpu.lost", "one getter says lost", gpus=gpus(errors={"ecc_enabled": LOST})),
    bad("gpu_count.all_answer", "gpu.lost", "no handle: lost", gpus=gpus(errors={"handle": LOST})),
    bad("gpu_count.all_answer", "gpu.reset_required", "no handle: reset required", gpus=gpus(errors={"handle": RESET_REQUIRED})),
    bad("gpu_count.all_answer", "gpu.missing", "no handle: Unknown Error", gpus=gpus(errors={"handle": "NVML: Unknown Error"})),
    good("gpu_driver.version", "no version is expected"),
    good("gpu_driver.version", "the expected branch", expected=expect(gpu__driver_version="570")),
    good("gpu_driver.version", "the expected version", expected=expect(gpu__driver_version="570.124.06")),
    bad("gpu_driver.version", "gpu.driver.version", "another branch", expected=expect(gpu__driver_version="580")),
    bad("gpu_driver.version", "gpu.driver.version", "a branch that begins alike", expected=expect(gpu__driver_version="57")),
    bad("gpu_driver.version", "gpu.driver.absent", "not loaded", gpus=gpus(driver=Driver.NOT_LOADED, message="x")),
    bad("gpu_driver.version", "gpu.driver.absent", "no library", gpus=gpus(driver=Driver.LIBRARY_MISSING, message="x")),
    bad("gpu_driver.version", "gpu.driver.mismatch", "library and module differ", gpus=gpus(driver=Driver.MISMATCH, message="x")),
    good("gpu_memory.ecc", "no errors"),
    bad("gpu_memory.ecc", "gpu.ecc.uncorrectable", "one error", gpus=gpus(ecc_volatile_uncorrected=1)),
    bad("gpu_memory.ecc", "gpu.ecc.disabled", "switched off", gpus=gpus(ecc_enabled=False)),
    bad(
        "gpu_memory.ecc", "gpu.ecc.aggregate", "more over its life than the site allows",
        gpus=gpus(ecc_aggregate_uncorrected=5), expected=expect(gpu__ecc_aggregate_uncorrected_max=4),
    ),
    good("gpu_memory.row_remap", "rows replaced, spares left", gpus=gpus(remapped_corrected=3, remapped_uncorrected=511)),
    bad("gpu_memory.row_remap", "gpu.row_remap.pending", "a row waits", gpus=gpus(remap_pending=True)),
    bad("gpu_memory.row_remap", "gpu.row_remap.failure", "no spare row", gpus=gpus(remap_failed=True)),
    bad("gpu_memory.row_remap", "gpu.row_remap.failure", "512 rows", gpus=gpus(remapped_uncorrected=512)),
    good("gpu_memory.retired_pages", "62 pages", gpus=gpus(retired_pages=62, retired_pending=False)),
    bad("gpu_memory.retired_pages", "gpu.retired_pages.pending", "a page waits", gpus=gpus(retired_pages=0, retired_pending=True)),
    bad("gpu_memory.retired_pages", "gpu.retired_pages.many", "63 pages", gpus=gpus(retired_pages=63, retired_pending=False)),
    good("gpu_links.pcie", "idle: the link saves power", gpus=gpus(pcie_gen=1)),
    bad("gpu_links.pcie", "gpu.pcie.downgraded", "8 lanes", gpus=gpus(pcie_width=8)),
    bad("gpu_links.pcie", "gpu.pcie.downgraded", "slot of generation 4", gpus=gpus(pcie_gen_max=4)),
    bad("gpu_links.pcie", "gpu.pcie.downgraded", "slow while at work", gpus=gpus(pcie_gen=3, clock_reasons=0)),
    good("gpu_links.nvlink", "18 links"),
    bad("gpu_links.nvlink", "gpu.nvlink.down", "17 of 18 links", gpus=gpus(nvlinks_up=17)),
    good("gpu_clocks.throttle", "idle, application clocks, power cap", gpus=gpus(clock_reasons=0x1 | 0x2 | 0x4)),
    bad("gpu_clocks.throttle", "gpu.throttle.hw", "hardware slowdown", gpus=gpus(clock_reasons=0x08)),
    bad("gpu_clocks.throttle", "gpu.throttle.hw", "hardware thermal slowdown", gpus=gpus(clock_reasons=0x40)),
    bad("gpu_clocks.throttle", "gpu.throttle.hw", "power brake", gpus=gpus(clock_reasons=0x80)),
    bad("gpu_clocks.throttle", "gpu.throttle.thermal", "software thermal slowdown", gpus=gpus(clock_reasons=0x20)),
    good("gpu_clocks.violations", "half a second in all"),
    bad("gpu_clocks.violations", "gpu.throttle.long", "an hour of heat", gpus=gpus(slowed_by_heat_s=3601.0)),
    bad("gpu_clocks.violations", "gpu.throttle.long", "a minute on the brake", gpus=gpus(slowed_by_brake_s=61.0)),
    good("kernel_log.xid", "a quiet log", host=kmsg()),
    good("kernel_log.xid", "an Xid before the last admission", host=kmsg(xid(79), at_s=10.0), since=940.0),
    good("kernel_log.xid", "recovery is over", host=kmsg(xid(154, RECOVERY.format(action="0x0 (None)")))),
    *(
        bad("kernel_log.xid", code, f"the line of {code}", host=kmsg(xid(int(code.rpartition(".")[2]))))
        for code in codes("xid")
        if code.startswith("gpu.xid.")
    ),
    *(
        bad("kernel_log.xid", code, f"Xid 154 says {action}", host=kmsg(xid(154, RECOVERY.format(action=action))))
        for code, action in ACTIONS.items()
    ),
]  # fmt: skip
