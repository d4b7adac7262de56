"""Lines of drivers that tell of broken hardware, each in its own shape; and ordinary lines that tell nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.parsers import kernel_faults
from greenroom.parsers.registry import read

LINES = {
    "pcieport 0000:40:01.1: AER: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)": ("pcie.aer.corrected", "0000:40:01.1"),
    "nvidia 0000:41:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer, (Requester ID)": ("pcie.aer.nonfatal", "0000:41:00"),
    "pcieport 0000:40:01.0: AER: Uncorrected (Fatal) error received: 0000:41:00.0": ("pcie.aer.fatal", "0000:40:01"),
    "mlx5_core 0000:17:00.0: 126.024 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x8 link at 0000:16:01.0 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)": ("pcie.link.limited.narrow", "0000:17:00"),
    "pci 0000:02:00.0: 4.000 Gb/s available PCIe bandwidth, limited by 5.0 GT/s PCIe x1 link at 0000:00:0c.0 (capable of 8.000 Gb/s with 5.0 GT/s PCIe x2 link)": ("pcie.link.limited", "0000:02:00"),
    "mlx5_core 0000:17:00.0: 126.024 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x16 link at 0000:16:01.0 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)": ("pcie.link.limited", "0000:17:00"),
    "nvidia 0000:41:00.0: AER: device recovery failed": ("pcie.recovery_failed", "0000:41:00"),
    "pcieport 0000:40:01.1: pciehp: Slot(3): Link Down": ("pcie.link_down", "0000:40:01.1"),
    "nvidia 0000:41:00.0: Unable to change power state from D3cold to D0, device inaccessible": ("pcie.config_unreadable", "0000:41:00"),
    "pcieport 0000:40:01.1: DPC: containment event, status:0x1f01 source:0x0000": ("pcie.dpc", "0000:40:01.1"),
    "EDAC MC2: 3 CE memory read error on CPU_SrcID#1_MC#0_Chan#1_DIMM#0 (channel:1 slot:0)": ("host.edac.ce", "cpu_srcid#1_mc#0_chan#1_dimm#0"),
    "EDAC i10nm MC0: 1 UE memory scrubbing error on DIMM_A1 (channel:0)": ("host.edac.ue", "dimm_a1"),
    "mce: [Hardware Error]: CPU 31: Machine Check Exception: 5 Bank 3: be00000000800400": ("host.mce.fatal", ""),
    'EDAC MC0: CE page 0x1f2, offset 0xa80, grain 32, syndrome 0x0, row 2, channel 1, label "DIMM_B1": i7core': ("host.edac.ce", "dimm_b1"),
    "rasdaemon: mc_event: 2 Corrected errors: memory read error on CPU_SrcID#0_DIMM#1 (mc:0)": ("host.edac.ce", "cpu_srcid#0_dimm#1"),
    "rasdaemon: mc_event: 1 Uncorrected error: memory scrubbing error on DIMM_C2 (mc:1)": ("host.edac.ue", "dimm_c2"),
    "pci 0000:41:00.0: BAR 1: no space for [mem size 0x2000000000 64bit pref]": ("pcie.resources", "0000:41:00"),
    "NVRM: BAR1 is 0M @ 0x0 (PCI:0000:41:00.0)": ("pcie.resources", "0000:41:00"),
    "infiniband mlx5_3: dump_cqe:272:(pid 0): dump error cqe": ("nic.cqe", "mlx5_3"),
    "infiniband rocep33s0f0: mlx5_poll_one:527:(pid 0): Responder error cqe on cqn 0x406:": ("nic.cqe", "rocep33s0f0"),
    "amdgpu 0000:c3:00.0: amdgpu: Fatal error during GPU init": ("gpu.init.failed", "0000:c3:00"),
    "nvme nvme3: frozen state error detected, reset controller": ("nvme.reset", "nvme3"),
    "thermal thermal_zone0: critical temperature reached, shutting down": ("host.temperature", ""),
    "NVRM: nvGpuOpsReportFatalError: uvm encountered global fatal error 0x60, requiring os reboot to recover.": ("gpu.uvm.fatal", ""),
    "mce: CMCI storm detected: switching to poll mode": ("host.mce.storm", ""),
    "mce: [Hardware Error]: Deferred error, no action required.": ("host.mce.deferred", ""),
    "mce: Uncorrected hardware memory error in user-access at 7f3a00": ("host.mce.uncorrected", ""),
    "CPU12: Core temperature above threshold, cpu clock throttled (total events = 7)": ("host.mce.thermal", ""),
    "Memory failure: 0x3f80a1: recovery action for dirty LRU page: Recovered": ("host.memory.poison", ""),
    "{1}[Hardware Error]: event severity: fatal": ("host.cper.fatal", ""),
    "{2}[Hardware Error]: event severity: corrected": ("host.cper.corrected", ""),
    "{3}[Hardware Error]: event severity: recoverable": ("host.cper", ""),
    "mlx5_core 0000:9a:00.0: mlx5_pcie_event:299:(pid 268): Detected insufficient power on the PCIe slot (27W).": ("nic.power", "0000:9a:00"),
    "mlx5_core 0000:9a:00.0: temp_warn:245:(pid 0): High temperature on sensors with bit set 0x1": ("nic.temperature", "0000:9a:00"),
    "mlx5_core 0000:9a:00.0: wait_func:1151:(pid 8): ACCESS_REG(0x805) timeout. Will cause a leak of a command resource": ("nic.cmd.timeout", "0000:9a:00"),
    "mlx5_core 0000:9a:00.0 ens1: TX timeout detected": ("nic.tx_timeout", "0000:9a:00"),
    "NETDEV WATCHDOG: ens1 (mlx5_core): transmit queue 3 timed out": ("nic.tx_timeout", ""),
    "mlx5_core 0000:9a:00.0 ens1: Error cqe on cqn 0x4a3, ci 0x1, qn 0x1f, opcode 0xd, syndrome 0x4": ("nic.cqe", "0000:9a:00"),
    "mlx5_core 0000:9a:00.0: mlx5_health_try_recover:335:(pid 9): health recovery flow aborted, PCI reads still not working": ("nic.pci.lost", "0000:9a:00"),
    "bond0: (slave ens2): link status definitely down for interface ens2, disabling it": ("nic.bond.member_down", "ens2"),
    "nvme2n1: Read(0x2) @ LBA 77, 8 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81) DNR": ("nvme.io_error", "nvme2n1"),
    "sd 0:0:0:0: [sdb] tag#3 Sense Key : Medium Error [current]": ("disk.medium_error", "sdb"),
    "Buffer I/O error on dev nvme0n1, logical block 0, async page read": ("disk.io_error", "nvme0n1"),
    "md/raid1:md0: Disk failure on sdb1, disabling device.": ("host.raid", "md0"),
    "Aborting journal on device sda1-8.": ("host.fs.error", "sda1-8"),
    "BTRFS info (device sdc): forced readonly": ("host.fs.readonly", "sdc"),
    "NMI watchdog: Watchdog detected hard LOCKUP on cpu 12": ("host.lockup.hard", ""),
    "rcu: INFO: rcu_sched detected stalls on CPUs/tasks:": ("host.rcu_stall", ""),
    "BUG: unable to handle page fault for address: ffffb8c0": ("host.oops", ""),
    "Kernel panic - not syncing: Attempted to kill init!": ("host.panic", ""),
    "DMAR: [DMA Read] Request device [17:00.0] fault addr 0x7f00": ("host.iommu", "0000:17:00"),
    "Lustre: scratch-OST0003-osc-ffff: Connection to scratch-OST0003 (at 10.0.3.4@o2ib) was lost; in progress operations wait": ("storage.lustre", "10.0.3.4@o2ib"),
    "amdgpu 0000:c3:00.0: amdgpu: Saved bad pages 128 reaches threshold value 128": ("gpu.amd.bad_page.threshold", "0000:c3:00"),
    "amdgpu 0000:c3:00.0: amdgpu: socket: 0 umc: 2 new uncorrectable hardware errors detected in umc block": ("gpu.amd.ras.uncorrectable", "0000:c3:00"),
    "amdgpu 0000:c3:00.0: amdgpu: 2 deferred hardware errors detected in umc block": ("gpu.amd.ras.deferred", "0000:c3:00"),
    "amdgpu 0000:c3:00.0: amdgpu: 9 correctable hardware errors detected in total in umc block": ("gpu.amd.ras.correctable", "0000:c3:00"),
    "amdgpu 0000:c3:00.0: amdgpu: sdma0 poison is consumed, client_id 0x1": ("gpu.amd.poison", "0000:c3:00"),
    "amdgpu 0000:c3:00.0: amdgpu: GPU reset begin!": ("gpu.amd.reset", "0000:c3:00"),
    "amdgpu 0000:c3:00.0: amdgpu: GPU reset(2) succeeded!": ("gpu.amd.reset.succeeded", "0000:c3:00"),
    "amdgpu 0000:c3:00.0: amdgpu: [gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:8 pasid:32771)": ("gpu.amd.page_fault", "0000:c3:00"),
    "amdgpu 0000:c3:00.0: amdgpu: SMU: I'm not done with your previous command: SMN_C2PMSG_66:0x0000000E": ("gpu.amd.smu", "0000:c3:00"),
    "amdgpu 0000:c3:00.0: amdgpu: device lost from bus!": ("gpu.amd.lost", "0000:c3:00"),
    "NVRM: GPU0 _kgspRpcGspEventPmuHalted: Received signal from GSP that PMU has halted.": ("gpu.gsp", "gpu0"),
    "NVRM: GPU2 kgspBootGspRm: unexpected WPR2 already up, cannot proceed with booting GSP": ("gpu.init.failed", "gpu2"),
    "NVRM: krcWatchdog_IMPL: RC watchdog: GPU is probably locked!  Notify Timeout Seconds: 7": ("gpu.hung", ""),
    "NVRM: GPU1 gpuHandleSanityCheckRegReadError_GM107: Possible bad register read: addr: 0x110040": ("gpu.lost", "gpu1"),
    "python3[4242]: segfault at 8 ip 00007f sp 00007f error 4 in libx.so": ("host.segfault", ""),
    "mlx5_core 0000:9a:00.0: Port module event: module 1, Cable unplugged": ("nic.module.unplugged", "0000:9a:00"),
    "mlx5_core 0000:9a:00.1: Port module event[error]: module 0, Cable error, High Temperature": ("nic.module.hot", "0000:9a:00.1"),
    "mlx5_core 0000:9a:00.0: Port module event[error]: module 0, Cable error, Bad or shorted cable/module": ("nic.module.error", "0000:9a:00"),
    "mlx5_core 0000:9a:00.0: poll_health:800:(pid 0): device's health compromised - reached miss count": ("nic.health", "0000:9a:00"),
    "nvme nvme3: I/O 17 (Read) QID 5 timeout, aborting": ("nvme.timeout", "nvme3"),
    "nvme nvme3: Removing after probe failure status: -19": ("nvme.controller.dead", "nvme3"),
    "nvme1n1: I/O Cmd(0x2) @ LBA 8, 8 blocks, I/O Error (sct 0x2 / sc 0x81)": ("nvme.io_error", "nvme1n1"),
    "critical medium error, dev sdb, sector 4711 op 0x0:(READ) flags 0x0": ("disk.medium_error", "sdb"),
    "blk_update_request: I/O error, dev sdb, sector 4711 op 0x1:(WRITE)": ("disk.io_error", "sdb"),
    "EXT4-fs error (device md0): ext4_lookup:1700: inode #2: comm ls": ("host.fs.error", "md0"),
    "XFS (nvme0n1p1): Corruption of in-memory data detected. Shutting down filesystem": ("host.fs.error", "nvme0n1p1"),
    "EXT4-fs (sda1): Remounting filesystem read-only": ("host.fs.readonly", "sda1"),
    "INFO: task pt_main_thread:8123 blocked for more than 122 seconds.": ("host.hung_task", ""),
    "watchdog: BUG: soft lockup - CPU#12 stuck for 26s! [python3:991]": ("host.lockup", ""),
    "LustreError: 11-0: scratch-OST0003-osc: operation ost_statfs to node 10.0.3.4@o2ib failed: rc = -110": ("storage.lustre", "10.0.3.4@o2ib"),
    "nfs: server home.example not responding, still trying": ("storage.nfs.silent", "home.example"),
    "amdgpu 0000:c3:00.0: amdgpu: uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!": ("gpu.amd.ras.uncorrectable", "0000:c3:00"),
    "amdgpu 0000:c3:00.0: amdgpu: ring comp_1.0.0 timeout, signaled seq=9, emitted seq=11": ("gpu.amd.ring_timeout", "0000:c3:00"),
    "NVRM: GPU3 _kgspIsHeartbeatTimedOut: Heartbeat timed out, currentTimeMs 1 heartbeat 2": ("gpu.gsp.timeout", "gpu3"),
    "NVRM: Rate limiting GSP RPC error prints for GPU at PCI:0000:9b:00 (printing 1 of every 30). The GPU likely needs to be reset.": ("gpu.gsp.timeout", "0000:9b:00"),
    "NVRM: API mismatch: the client has the version 550.54.15, but": ("gpu.driver.mismatch", ""),
    "NVRM: GPU 0000:41:00.0: RmInitAdapter failed! (0x26:0x56:1463)": ("gpu.driver.init_failed", "0000:41:00"),
    "nvidia 0000:41:00.0: AER: can't recover (no error_detected callback)": ("pcie.recovery_failed", "0000:41:00"),
    'EDAC MC0: UE row 1, channel-a= 0 channel-b= 1 labels "DIMM_A1": Uncorrected error': ("host.edac.ue", "dimm_a1"),
    "ACPI: thermal: Thermal Zone [TZ00] (97 C) critical": ("host.temperature", ""),
    "mlx5_core 0000:c1:00.0: print_health_info:492:(pid 0): Health issue observed, firmware internal error": ("nic.health", "0000:c1:00"),
    "bnxt_en 0000:19:00.0 eno1np0: Firmware fatal condition, attempting reset": ("nic.health", "0000:19:00"),
    "mlx5_core 0000:03:00.0: mlx5_load_one failed with error code -22": ("nic.driver.failed", "0000:03:00"),
    "mlx5_core: probe of 0000:03:00.0 failed with error -22": ("nic.driver.failed", "0000:03:00"),
    "ice 0000:03:00.1: probe with driver ice failed with error -5": ("nic.driver.failed", "0000:03:00.1"),
    "mlx5_core 0000:d2:00.0: mlx5_cmd_out_err:838:(pid 268): ACCESS_REG(0x805) op_mod(0x1) failed": ("nic.command.refused", "0000:d2:00"),
    "mlx5_core 0000:1a:00.0 ens1f0np0: Link down": ("nic.link.lost", "0000:1a:00"),
    "ixgbe 0000:05:00.0 eth2: NIC Link is Down": ("nic.link.lost", "0000:05:00"),
    "e1000e 0000:00:1f.6 eno1: Detected Hardware Unit Hang:": ("nic.tx_timeout", ""),
    "ib0: transmit timeout: latency 1234 msecs": ("nic.tx_timeout", ""),
    "nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10": ("nvme.controller.down", "nvme0"),
    "block nvme0n1: no usable path - requeuing I/O": ("nvme.no_path", "nvme0n1"),
    "sd 0:0:0:0: [sda] tag#0 FAILED Result: hostbyte=DID_BAD_TARGET driverbyte=DRIVER_OK cmd_age=0s": ("disk.io_error", "sda"),
    "ata1.00: failed command: READ FPDMA QUEUED": ("disk.io_error", "ata1.00"),
    "ata3: hard resetting link": ("disk.reset", "ata3"),
    "ata3.00: disabled": ("disk.gone", "ata3.00"),
    "sd 2:0:0:0: rejecting I/O to offline device": ("disk.gone", "2:0:0:0"),
    "megaraid_sas 0000:3b:00.0: FW in FAULT state!!": ("disk.controller", "0000:3b:00"),
    "mpt3sas_cm0: fault_state(0x5854)!": ("disk.controller", "mpt3sas_cm0"),
    "md/raid0:md0: Disk failure on nvme0n1p1 detected, failing array.": ("host.raid.failed", "md0"),
    "md/raid0md0: Disk failure on nvme0n1p1 detected, failing array.": ("host.raid.failed", "md0"),
    "EXT4-fs (dm-0): I/O error while writing superblock": ("host.fs.error", "dm-0"),
    "BUG: Bad page state in process devlink  pfn:1a2b3c": ("host.oops", ""),
    "clocksource: timekeeping watchdog on CPU3: Marking clocksource 'tsc' as unstable because the skew is too large:": ("host.clocksource", ""),
    "python3: page allocation failure: order:9, mode:0xcc0(GFP_KERNEL)": ("host.memory.fragmented", ""),
    "ceph: mds0 hung": ("storage.ceph", "mds0"),
    "libceph: osd3 down": ("storage.ceph", "osd3"),
    "amdgpu 0000:c5:00.0: amdgpu: MES failed to respond to msg=REMOVE_QUEUE": ("gpu.amd.hang", "0000:c5:00"),
    "amdgpu 0000:28:00.0: Ring gfx_0.0.0 reset failed": ("gpu.amd.hang", "0000:28:00"),
    "amdgpu 0000:03:00.0: [drm:amdgpu_ring_test_helper [amdgpu]] *ERROR* ring kiq_2.1.0 test failed (-110)": ("gpu.amd.hang", "0000:03:00"),
    "amdgpu: qcm fence wait loop timeout expired": ("gpu.amd.hang", ""),
    "i915 0000:03:00.0: [drm] GPU HANG: ecode 12:1:85dffffb, in python [1234]": ("gpu.intel.hang", "0000:03:00"),
    "NVRM: The NVIDIA probe routine failed for 1 device(s).": ("gpu.driver.init_failed", ""),
    "NVRM: knvlinkDiscoverPostRxDetLinks_GB100_REV2: Getting peer17 postRxDetLinkMask failed!": ("gpu.nvlink.discovery", ""),
    "Out of memory: Killed process 4242 (python3) total-vm:1kB": ("app.oom", ""),
}  # fmt: skip
HEADS = [
    "",
    "[  12.345678] ",
    "May 19 19:57:01 node7 kernel: ",
    "2026-05-19T19:57:01.5+00:00 node7 kernel: [ 12.345678] ",
]
ORDINARY = [
    "mlx5_core 0000:ab:00.0 mlx5_5: Port: 1 Link ACTIVE",
    "mlx5_core 0000:1a:00.0 ens1f0np0: Link up",
    "ixgbe 0000:05:00.0 eth2: NIC Link is Up 10 Gbps, Flow Control: RX/TX",
    "ata1: SATA link up 6.0 Gbps (SStatus 133 SControl 300)",
    "ata5: SATA link down (SStatus 0 SControl 300)",
    "libceph: osd3 (1)10.1.1.1:6801 socket closed (con state OPEN)",
    "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing",
    "mlx5_core 0000:ab:00.0: Port module event: module 0, Cable plugged",
    "nvme nvme0: 16/0/0 default/read/poll queues",
    "EXT4-fs (sda1): mounted filesystem with ordered data mode",
    "XFS (sdb1): Ending clean mount",
    "EDAC MC0: Giving out device to module skx_edac controller Skylake Socket#0 IMC#0",
    "pcieport 0000:40:01.1: AER: enabled with IRQ 42",
    "amdgpu 0000:c3:00.0: amdgpu: MEM ECC is active.",
    "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.124.06",
    "nfs: server home.example OK",
    "mce: CPU supports 20 MCE banks",
    "pci 0000:00:1f.0: BAR 13: no space for [io  size 0x1000]",
    "pci 0000:80:05.0: BAR 6: can't assign [mem size 0x00080000 pref]",
    "usb 1-1: device not responding to setup address",
]


@pytest.mark.parametrize("line", LINES)
def test_each_is_read_in_every_frame(line):
    code, device = LINES[line]
    for head in HEADS:
        (one,) = read(head + line, "kernel-log").sightings
        assert (one.code, one.device) == (code, device)


def test_every_rule_has_a_line_here():
    seen = {code for code, _ in LINES.values()}
    ruled = {rule.code for rule in kernel_faults.RULES} - {"pcie.aer"}
    assert ruled - seen == {"host.mce.corrected", "nvme.access_denied", "gpu.amd.aca", "gpu.amd.reset_failed"}
    more = {
        "host.mce.corrected": "1 .. error: Corrected error, no action required., CPU 2, bank Unified Memory Controller (bank=21)",
        "nvme.access_denied": "nvme0n1: I/O Cmd(0x2) @ LBA 0, 8 blocks, I/O Error (sct 0x2 / sc 0x86) DNR",
        "gpu.amd.aca": "amdgpu 0000:9e:00.0: {1}[Hardware Error]: Accelerator Check Architecture events logged",
        "gpu.amd.reset_failed": "amdgpu 0000:9e:00.0: amdgpu: GPU reset(1) failed",
    }
    for code, line in more.items():
        assert [one.code for one in kernel_faults.find(line)] == [code]


@pytest.mark.parametrize("line", ORDINARY)
def test_ordinary_lines_tell_nothing(line):
    for head in HEADS:
        assert read(head + line, "kernel-log").sightings == ()


def test_thirty_thousand_ordinary_lines_tell_nothing():
    lines = [f"[{n}.{n % 999999:06}] {ORDINARY[n % len(ORDINARY)]} #{n}" for n in range(30_000)]
    assert read("\n".join(lines), "kernel-log").sightings == ()


def test_counts_are_taken_and_echoes_are_one():
    edac = read("EDAC MC1: 262 CE memory read error on DIMM_B2 (channel:1)")
    assert edac.sightings[0].count == 262
    aer = read(
        "pcieport 0000:00:03.0: AER: Corrected error received: 0000:00:03.0\n"
        "pcieport 0000:00:03.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Transmitter ID)\n"
    )
    assert [one.code for one in aer.sightings] == ["pcie.aer.corrected"]
    locked = read(
        "nvme0n1: I/O Cmd(0x2) @ LBA 0, 8 blocks, I/O Error (sct 0x2 / sc 0x86) DNR\n"
        "critical medium error, dev nvme0n1, sector 0 op 0x0:(READ)\n"
    )
    assert [one.code for one in locked.sightings] == ["nvme.access_denied"]


@given(st.sampled_from(list(LINES)), st.text(max_size=100), st.text(max_size=100))
def test_what_stands_around_a_line_makes_no_rule_raise(line, before, after):
    list(kernel_faults.find(before + line + after))


@pytest.mark.parametrize(
    "part", ["A" * 200_000, "EDAC MC0: 1 CE " * 10_000, "mlx5_core " * 20_000, "(" * 100_000]
)
def test_long_lines_take_no_long_time(part):
    read(part, "kernel-log")  # bounded by the test's own time limit: no backtracking without end
