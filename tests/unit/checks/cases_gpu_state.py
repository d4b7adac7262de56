"""Firmware, modes, fabric, links, heat and reserves of GPUs."""

from cases import bad, good
from healthy import expect, gpus

from greenroom.probes.host import Ran
from greenroom.probes.recorded import RecordedHost

GRACE = {"c2c_links": 10, "c2c_up": 10, "errors": {}}
ALL_DEAD = tuple(index for index in range(8) if index != 2)


def manager(said: str) -> RecordedHost:
    """What systemd says of the fabric manager."""
    return RecordedHost(commands={"systemctl": Ran(argv=(), rc=3, stdout=f"{said}\n", stderr="", seconds=0)})


def rdma(**files: str) -> RecordedHost:
    """A machine with an adapter, and these files (two underscores for a slash)."""
    own = {"/" + name.replace("__", "/"): text for name, text in files.items()}
    return RecordedHost(files={"/sys/class/infiniband/mlx5_0/fw_ver": "28.39.1002\n", **own})


OPEN = {
    "proc__driver__nvidia__version": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.124.06\n"
}
IDLE = expect(gpu__idle=True)
CASES = [
    good("gpu_firmware.versions", "all alike"),
    good("gpu_firmware.versions", "as expected", expected=expect(gpu__vbios="96.00", gpu__gsp="570.124.06")),
    bad("gpu_firmware.versions", "gpu.firmware.mismatch", "one has another VBIOS", gpus=gpus(vbios="96.00.61.00.02")),
    bad("gpu_firmware.versions", "gpu.firmware.mismatch", "one has another GSP firmware", gpus=gpus(gsp="565.57.01")),
    bad("gpu_firmware.versions", "gpu.firmware.version", "all have an old VBIOS", expected=expect(gpu__vbios="96.00.89")),
    bad("gpu_firmware.versions", "gpu.inforom.corrupt", "a corrupt InfoROM", gpus=gpus(inforom_valid=False)),
    good("gpu_fabric.state", "all have joined"),
    bad("gpu_fabric.state", "gpu.fabric.not_joined", "one is in progress", gpus=gpus(fabric_state=2)),
    bad("gpu_fabric.state", "gpu.fabric.not_joined", "one has not started, the manager runs", gpus=gpus(fabric_state=1), host=manager("active")),
    bad("gpu_fabric.state", "gpu.fabric.not_joined fabric.service.failed", "the manager does not run", gpus=gpus(fabric_state=1), host=manager("failed")),
    bad("gpu_fabric.state", "fabric.status", "completed, with an error", gpus=gpus(fabric_status=999)),
    bad("gpu_fabric.state", "fabric.degraded", "degraded bandwidth", gpus=gpus(fabric_health=0b1_10101001)),
    bad("gpu_fabric.state", "fabric.degraded", "too few NVLinks for the fabric", gpus=gpus(fabric_health=0b101_10101010)),
    good("gpu_modes.settings", "nothing is expected"),
    good("gpu_modes.settings", "as expected", expected=expect(gpu__persistence=True, gpu__compute_mode="default", gpu__mig=False)),
    bad("gpu_modes.settings", "gpu.mode.persistence", "off", gpus=gpus(persistence=False), expected=expect(gpu__persistence=True)),
    bad("gpu_modes.settings", "gpu.mode.mig", "on", gpus=gpus(mig=True), expected=expect(gpu__mig=False)),
    bad("gpu_modes.settings", "gpu.mode.compute", "one for each process", gpus=gpus(compute_mode=3), expected=expect(gpu__compute_mode="default")),
    bad("gpu_modes.settings", "gpu.mode.prohibited", "closed to programs", gpus=gpus(compute_mode=2)),
    good("gpu_modes.left_over", "idle", expected=IDLE),
    bad("gpu_modes.left_over", "gpu.process", "a process", gpus=gpus(processes=(4711,)), expected=IDLE),
    bad("gpu_modes.left_over", "gpu.memory.left", "memory of nobody", gpus=gpus(memory_used_mib=2049), expected=IDLE),
    good("gpu_heat.temperature", "cool"),
    bad("gpu_heat.temperature", "gpu.temperature.high", "2 degrees from the slowdown", gpus=gpus(temperature_c=90)),
    bad("gpu_heat.temperature", "gpu.temperature.high", "hotter than the site allows", gpus=gpus(temperature_c=70), expected=expect(gpu__temperature_c_max=69)),
    bad("gpu_heat.temperature", "gpu.temperature.high", "hot memory", gpus=gpus(memory_temperature_c=96), expected=expect(gpu__memory_temperature_c_max=95)),
    good("gpu_heat.limits", "the default"),
    good("gpu_heat.limits", "the site's own limit", gpus=gpus(power_limit_w=500.0), expected=expect(gpu__power_limit_w_min=500)),
    bad("gpu_heat.limits", "gpu.power.limited", "below the default", gpus=gpus(power_limit_w=400.0)),
    bad("gpu_heat.limits", "gpu.clock.limited", "a locked clock", gpus=gpus(clock_max_mhz=1410), expected=expect(gpu__clock_mhz_min=1980)),
    good("gpu_nvlink.quality", "no recoveries, one speed"),
    good("gpu_nvlink.quality", "no link is up", gpus=gpus(nvlinks_up=0, nvlink_mbps=0)),
    bad("gpu_nvlink.quality", "gpu.nvlink.errors", "a recovery", gpus=gpus(nvlink_recoveries=1)),
    bad("gpu_nvlink.quality", "gpu.nvlink.errors", "many checksum errors", gpus=gpus(nvlink_crc_errors=101), expected=expect(gpu__nvlink_crc_max=100)),
    bad("gpu_nvlink.quality", "gpu.nvlink.errors", "many packets again", gpus=gpus(nvlink_replays=101), expected=expect(gpu__nvlink_replays_max=100)),
    bad("gpu_nvlink.quality", "gpu.nvlink.degraded", "slower than its neighbours", gpus=gpus(nvlink_mbps=25000)),
    bad("gpu_nvlink.quality", "gpu.nvlink.degraded", "all slower than expected", expected=expect(gpu__nvlink_mbps_min=50000)),
    good("gpu_nvlink.peers", "all reach all"),
    good("gpu_nvlink.peers", "a bridge joins some", gpus=gpus(unreachable=(3, 4))),
    bad("gpu_nvlink.peers", "gpu.p2p.dead", "one reaches none", gpus=gpus(unreachable=ALL_DEAD)),
    good("gpu_nvlink.c2c", "all links up", gpus=gpus(**GRACE)),
    bad("gpu_nvlink.c2c", "gpu.c2c.down", "9 of 10 up", gpus=gpus(**{**GRACE, "c2c_up": 9})),
    good("gpu_links.replays", "none"),
    bad("gpu_links.replays", "gpu.pcie.replays", "101 of 100", gpus=gpus(pcie_replays=101), expected=expect(gpu__pcie_replays_max=100)),
    good("gpu_memory.reserves", "spare rows in every bank", gpus=gpus(banks_low=3)),
    bad("gpu_memory.reserves", "gpu.row_remap.exhausted", "a bank without a spare row", gpus=gpus(banks_without_spare=1)),
    bad("gpu_memory.reserves", "gpu.ecc.threshold", "too many SRAM errors", gpus=gpus(sram_uncorrected=12, sram_exceeded=True)),
    good("gpu_recovery.action", "none"),
    bad("gpu_recovery.action", "gpu.recovery.reset", "a reset", gpus=gpus(recovery=1)),
    bad("gpu_recovery.action", "gpu.recovery.reboot", "a reboot", gpus=gpus(recovery=2)),
    bad("gpu_recovery.action", "gpu.recovery.drain", "a drain", gpus=gpus(recovery=4)),
    bad("gpu_recovery.action", "gpu.recovery.other", "a number that drivers use differently", gpus=gpus(recovery=5)),
    good("gpu_direct.module", "peer memory is loaded", host=rdma(sys__module__nvidia_peermem__refcnt="0\n")),
    good("gpu_direct.module", "the open driver on a new kernel", host=rdma(proc__sys__kernel__osrelease="6.8.0-51\n", **OPEN)),
    bad("gpu_direct.module", "gpu.direct.missing", "the open driver on an old kernel", host=rdma(proc__sys__kernel__osrelease="5.4.0-1\n", **OPEN)),
    bad("gpu_direct.module", "gpu.direct.missing", "a closed driver without the module", host=rdma()),
]  # fmt: skip
