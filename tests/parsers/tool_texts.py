"""Hand-made outputs of every tool, a good and a bad one of each shape, in the form of the real ones.

Bad: (kind, text, code, device, the line that says so). Good: (kind, text).
"""

from __future__ import annotations

import json

from tool_texts_dcgm import (
    DCGM_LOG,
    DIAG2,
    DIAG3_SLIP,
    DIAG4,
    DIAG_ITER,
    DIAG_TABLE_4,
    DIAG_TABLE_BAD,
    DIAG_TABLE_WELL,
    HEALTH,
    HEALTH_BAD,
    HEALTH_JSON,
    HEALTH_JSON_WELL,
    HEALTH_OLD,
    diag,
)
from tool_texts_nvidia import (
    CSV,
    CSV_BARE,
    CSV_HOT,
    CSV_LOST,
    CSV_PENDING,
    CSV_WELL,
    DCGM_LINKS,
    LINK_ERRORS,
    LINKS,
    LINKS_DOWN,
    LINKS_NVL,
    SMI_ERR,
    SMI_FAN,
    TOPO,
    query,
    smi,
    xml,
)
from tool_texts_wire import (
    BOND,
    DEVINFO,
    ETHTOOL,
    FM,
    FM_FATAL,
    FM_UNIT,
    FM_VERSION,
    IBSTATUS,
    NCCL_FAILED,
    NCCL_LOG,
    NCCL_OLD,
    NCCL_STATUS,
    NETDEVS,
    NETDEVS_V,
    NVBW,
    PERFQUERY,
    PERFTEST,
    PERFTEST_DEAD,
    PERFTEST_JSON,
    PERFTEST_LAT,
    QUERYERRORS,
    RATES,
    SDR,
    SDR_SHORT,
    SEL,
    SENSOR,
    SMART_JSON,
    SMARTCTL,
    SMARTCTL_ATA,
    SMARTCTL_SAS,
    STATISTICS,
    WATCHDOG,
    ip_link,
    nccl_json,
    nvbw_json,
    redfish_power,
    smartctl_json,
)

AMD = "GPU: 3\n    ECC:\n        TOTAL_CORRECTABLE_COUNT: 4\n        TOTAL_UNCORRECTABLE_COUNT: {0}\n    ECC_BLOCKS:\n        UMC:\n            CORRECTABLE_COUNT: 4\n            UNCORRECTABLE_COUNT: {0}\n            DEFERRED_COUNT: {1}\n        SDMA:\n            UNCORRECTABLE_COUNT: N/A\n"


def amd_json(uncorrected=0):
    return json.dumps(
        [
            {"gpu": 0, "ecc": {"total_uncorrectable_count": 0}},
            {
                "gpu": 1,
                "ecc": {
                    "total_correctable_count": 0,
                    "total_uncorrectable_count": uncorrected,
                    "total_deferred_count": 0,
                },
            },
        ],
        indent=1,
    )


ROCM = {"card0": {"Temperature (Sensor edge) (C)": "35.0", "RAS UMC uncorrectable errors": "0"}}


def rocm_json(errors="0"):
    return json.dumps(
        {**ROCM, "card1": {"RAS UMC correctable errors": "2", "RAS UMC uncorrectable errors": errors}},
        indent=1,
    )


XPU = """\
+------------------------------+--------------------------------------------------+
| Device ID                    | 1                                                |
+------------------------------+--------------------------------------------------+
| 1. GPU Core Temperature      | Status: Ok                                       |
|                              | Description: All temperature sensors are healthy |
+------------------------------+--------------------------------------------------+
| 4. GPU Memory                | Status: {}                                      |
+------------------------------+--------------------------------------------------+
"""
SINFO_R = "REASON               USER      TIMESTAMP           NODELIST\n{}root      2026-12-01T12:48:00 gpu[07-08]\n"
SINFO = "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\nbatch*       up   infinite      2   idle gpu[01-02]\n{}"
SINFO_N = "NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY\ngpu01          1    batch*        idle 128    2:64:1 515000\ngpu02          1    batch*       {} 128    2:64:1 515000\n"
SCONTROL = "NodeName=gpu05 Arch=x86_64 CoresPerSocket=64\n   CPUAlloc=0 CPUTot=128\n   State={} ThreadsPerCore=1 TmpDisk=0 Weight=1\n{}   Partitions=batch\n"
SACCT = "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode\n------------ ---------- ---------- ---------- ---------- ---------- --------\n4711              train      batch       team         64  {} {}\n"
SACCT_P = "JobID|JobName|State|ExitCode|NodeList\n4712|a b c|{}|0:0|gpu[03-04]\n"
SLURMD = "[2026-12-01T12:48:00.123] launch task StepId=4711.0 request from UID:1000\n{}"
SLURMD_BAD = "[2026-12-01T12:49:00.123] error: Setting node gpu09 state to INVAL with reason:gres/gpu count reported lower than configured (7 < 8)\n"
ALB = 'https 2026-12-01T12:48:00.123456Z app/infer/0123456789abcdef 10.0.0.9:50001 10.0.1.7:8000 0.001 {} 0.000 {} {} 500 900 "POST https://infer.example.test:443/v1 HTTP/1.1" "curl/8" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:tg/x "Root=1-2-3" "infer.example.test" "arn:cert" 0 2026-12-01T12:47:59.000000Z "forward" "-" "-" "10.0.1.7:8000" "200" "-" "-"\n'
PS = "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\nroot           1  0.0  0.0 169000 12000 ?        Ss   Nov30   0:09 /sbin/init\nroot        4242  0.0  0.0  16488  4056 ?        {}    Nov30   0:00 nvidia-smi -L\n"
LSPCI = "17:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)\n\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported\n\t\tLnkSta:\tSpeed {}, Width {}\n0000:3a:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev {})\n"
NHC = "ERROR: nhc: Health check failed: check_hw_physmem: Actual RAM size (503 GB) less than expected (1007 GB)\n"

APP_LOG = """\
[2026-12-01 08:52:43 TP5] Using default MoE config.
Traceback (most recent call last):
  File "train.py", line 8, in <module>
{}
"""
PLUGIN = """\
2026/12/01 19:09:40 Registered device plugin for 'nvidia.com/gpu' with Kubelet
2026/12/01 19:09:42 XidCriticalError: Xid=79 on Device=GPU-7540a9b3-eeb9-1214-1526-f93c9ea826a8, the device will go unhealthy.
"""
XID_METRIC = """\
# HELP DCGM_FI_DEV_XID_ERRORS Value of the last XID error encountered.
DCGM_FI_DEV_XID_ERRORS{{gpu="3",UUID="GPU-12",device="nvidia3",Hostname="gpu-n12"}} {}
"""
HOSTENGINE = """\
2026-12-01 03:12:44.123 INFO  [1514002:1514002] [[NvcmEngine]] Starting version 4.5.0
2026-12-01 03:12:44.456 INFO  [1514002:1514004] [[Health]] Watches are set
"""
NHC_WELL = """\
20261201 03:12:44 [slurm] /usr/sbin/nhc: Running check: "check_hw_cpuinfo 2 96 192"
nhc: Node Health Check completed successfully (2s).
"""
GOOD = [
    ("ipmi-sel", SEL.format("")),
    ("ipmi-sdr", SDR.format("")),
    ("ipmi-sdr", SDR_SHORT.format("9000 RPM          ", "ok")),
    ("ipmi-sdr", SENSOR.format("58.000", "ok")),
    ("dcgm-log", HOSTENGINE),
    ("nhc", NHC_WELL),
    ("app-log", XID_METRIC.format(0)),
    (
        "rdma-link",
        "link mlx5_3/1 subnet_prefix fe80:0000:0000:0000 lid 12 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP \n",
    ),
    ("prose", "(prose) all_reduce on 8 GPUs reaches a busbw of 480 GB/s with NVLS, 370 GB/s with ring\n"),
    ("nvidia-smi", smi()),
    ("nvidia-smi", "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-00000000-1111-2222-3333-444444444444)\n"),
    ("nvidia-smi-q", query()),
    ("nvidia-smi-xml", xml()),
    ("nvidia-smi-csv", CSV.format(CSV_WELL, CSV_WELL.replace("0, ", "1, ", 1))),
    ("nvidia-smi-csv", CSV_BARE.format("36")),
    ("nvlink", LINKS),
    ("nvlink", LINKS_NVL),
    ("nvlink", LINK_ERRORS.format(0)),
    ("nvlink", DCGM_LINKS.format("U")),
    ("nvidia-topo", TOPO.format("NV18", "NV18")),
    ("dcgmi-diag-json", diag(DIAG4[:1])),
    ("dcgmi-diag", DIAG_TABLE_WELL),
    ("dcgmi-health", HEALTH.format("Healthy")),
    ("dcgmi-health", HEALTH_JSON_WELL),
    ("ibstatus", IBSTATUS.format("4: ACTIVE", "5: LinkUp")),
    ("ibv_devinfo", DEVINFO.format("PORT_ACTIVE (4)", 1, "InfiniBand")),
    ("ibv_devinfo", DEVINFO.format("PORT_ACTIVE (4)", 0, "Ethernet")),
    ("ibdev2netdev", NETDEVS.format("Up")),
    ("perfquery", PERFQUERY.format(0)),
    ("ethtool", ETHTOOL.format("100000Mb/s", "Full", "yes")),
    ("ethtool", STATISTICS.format(0)),
    ("ip-link", ip_link()),
    ("bond", BOND.format("up", 0, 1)),
    ("nvme-smart", json.dumps(SMART_JSON, indent=2)),
    ("smartctl", SMARTCTL.format("PASSED", "0x00", "100%", "1%")),
    ("smartctl", SMARTCTL_ATA.format(0)),
    ("smartctl", SMARTCTL_SAS.format(0, 0)),
    ("smartctl", smartctl_json()),
    ("redfish", redfish_power()),
    ("nccl-tests", NCCL_OLD.format("2e-07")),
    ("nccl-tests-json", nccl_json()),
    ("nccl-log", NCCL_LOG.format("")),
    ("perftest", PERFTEST.format("391.99")),
    ("perftest", PERFTEST_LAT),
    ("perftest", PERFTEST_JSON.format("391.99")),
    ("nvbandwidth", NVBW.format("55.30")),
    ("nvbandwidth", nvbw_json()),
    ("fabricmanager", FM),
    ("amd-smi", AMD.format(0, 0)),
    ("amd-smi", amd_json()),
    ("rocm-smi", rocm_json()),
    ("xpu-smi", XPU.format("Ok")),
    ("sinfo", SINFO.format("")),
    ("sinfo", SINFO_N.format("idle")),
    ("scontrol-node", SCONTROL.format("IDLE", "")),
    ("sacct", SACCT.format("COMPLETED", "0:0")),
    ("sacct", SACCT_P.format("COMPLETED")),
    ("slurm-log", SLURMD.format("")),
    ("alb", ALB.format("0.100", "200", "200")),
    ("ps", PS.format("S ")),
    ("lspci", LSPCI.format("32GT/s", "x16", "a1")),
]
BAD = [
    ("ipmi-sel", SEL.format("   5 | 12/01/2026 | 10:05:13 | Memory DIMM_B2 | Uncorrectable ECC | Asserted\n"), "host.edac.ue", "Memory DIMM_B2", "Uncorrectable"),
    ("ipmi-sel", SEL.format("   5 | 12/01/26 | 10:05:13 PM UTC | Power Unit Redundancy | Redundancy Lost | Asserted\n"), "host.power.redundancy", "Power Unit Redundancy", "Lost"),
    ("ipmi-sdr", SDR.format("PS2 Status       | C9h | ok  | 10.2 | Presence detected, Power Supply AC lost\n"), "host.power.supply", "PS2 Status", "AC lost"),
    ("ipmi-sdr", SDR.format("Fan 2            | 31h | cr  | 29.2 | 0 RPM\n"), "host.fan", "Fan 2", "0 RPM"),
    ("ipmi-sdr", SDR_SHORT.format("0 RPM             ", "cr"), "host.fan", "FAN4", "0 RPM"),
    ("ipmi-sdr", SENSOR.format("97.000", "cr"), "host.temperature", "CPU1 Temp", "97.000"),
    ("nvidia-smi", smi(ecc="3"), "gpu.ecc.uncorrectable", "0000:19:00", "00000000:19:00.0"),
    ("nvidia-smi", smi(second=SMI_ERR), "nvml.999", "0000:19:00", "ERR!"),
    ("nvidia-smi", smi(second=SMI_FAN), "gpu.sensor.unreadable", "0000:19:00", "ERR!"),
    ("nvidia-smi", "Unable to determine the device handle for GPU0000:A1:00.0: Unknown Error\n", "nvml.999", "0000:a1:00", "Unable"),
    ("nvidia-smi", "Unable to determine the device handle for GPU2: 0000:A1:00.0: GPU is lost.  Reboot the system\n", "gpu.lost", "0000:a1:00", "Unable"),
    ("nvidia-smi", "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", "gpu.driver.absent", "", "NVIDIA-SMI"),
    ("nvidia-smi", "No devices were found\n", "gpu.missing", "", "No devices"),
    ("nvidia-smi-q", query(parity=1), "gpu.ecc.uncorrectable", "0000:5d:00", "Parity"),
    ("nvidia-smi-q", query(aggregate=2), "gpu.ecc.aggregate", "0000:5d:00", "SEC-DED"),
    ("nvidia-smi-q", query(threshold="Yes"), "gpu.ecc.threshold", "0000:5d:00", "Threshold"),
    ("nvidia-smi-q", query(pending="Yes"), "gpu.row_remap.pending", "0000:5d:00", "  Pending                           : Yes"),
    ("nvidia-smi-q", query(failure="Yes"), "gpu.row_remap.failure", "0000:5d:00", "Remapping Failure"),
    ("nvidia-smi-q", query(width="8x"), "gpu.pcie.downgraded", "0000:5d:00", "8x"),
    ("nvidia-smi-q", query(slow="Active"), "gpu.throttle.hw", "0000:5d:00", "HW Slowdown"),
    ("nvidia-smi-q", query(status="Insufficient Resources"), "fabric.status", "0000:5d:00", "Insufficient"),
    ("nvidia-smi-q", query(state="In Progress"), "fabric.state.in_progress", "0000:5d:00", "In Progress"),
    ("nvidia-smi-q", query(route="True"), "fabric.health.route_unhealthy", "0000:5d:00", "Route"),
    ("nvidia-smi-q", query(action="Reboot"), "gpu.recovery.reboot", "0000:5d:00", "Recovery"),
    ("nvidia-smi-q", query(drain="Yes"), "gpu.recovery.drain", "0000:5d:00", "Drain"),
    ("nvidia-smi-xml", xml(volatile=2), "gpu.ecc.uncorrectable", "0000:3b:00", "dram_uncorrectable>2"),
    ("nvidia-smi-xml", xml(pending="Yes"), "gpu.row_remap.pending", "0000:3b:00", "pending>Yes"),
    ("nvidia-smi-xml", xml(failure="Yes"), "gpu.row_remap.failure", "0000:3b:00", "failure>Yes"),
    ("nvidia-smi-xml", xml(width="4x"), "gpu.pcie.downgraded", "0000:3b:00", "4x"),
    ("nvidia-smi-xml", xml(slow="Active"), "gpu.throttle.hw", "0000:3b:00", "hw_thermal"),
    ("nvidia-smi-xml", xml(status="Insufficient Resources"), "fabric.status", "0000:3b:00", "Insufficient"),
    ("nvidia-smi-xml", xml(volatile="Unknown Error"), "gpu.sensor.unreadable", "0000:3b:00", "Unknown Error"),
    ("nvidia-smi-csv", CSV.format(CSV_WELL, CSV_HOT), "gpu.throttle.hw", "0000:32:00", "0048"),
    ("nvidia-smi-csv", CSV.format(CSV_WELL, CSV_PENDING), "gpu.row_remap.pending", "0000:32:00", "Yes"),
    ("nvidia-smi-csv", CSV.format(CSV_WELL, CSV_LOST), "gpu.lost", "0000:32:00", "lost"),
    ("nvidia-smi-csv", CSV_BARE.format("[Unknown Error]"), "gpu.sensor.unreadable", "gpu:1", "Unknown"),
    ("nvlink", LINKS_DOWN, "gpu.nvlink.down", "gpu:5", "inactive"),
    ("nvlink", LINK_ERRORS.format(9), "gpu.nvlink.errors", "gpu:1", "Replay"),
    ("nvlink", DCGM_LINKS.format("D"), "gpu.nvlink.down", "gpu:1", "U U U D"),
    ("nvidia-topo", TOPO.format("SYS", "SYS"), "gpu.nvlink.down", "gpu:2-gpu:3", "GPU2\tNV18"),
    ("dcgmi-diag-json", diag(DIAG4), "dcgm.80", "gpu:1", ""),
    ("dcgmi-diag-json", diag(DIAG3_SLIP, "DCGM GPU Diagnostic"), "dcgm.29", "gpu:2", ""),
    ("dcgmi-diag-json", diag(DIAG2, "DCGM GPU Diagnostic"), "dcgm.4", "gpu:3", ""),
    ("dcgmi-diag-json", DIAG_ITER, "dcgm.test.pcie", "gpu:6", ""),
    ("dcgmi-diag", DIAG_TABLE_BAD, "dcgm.85", "gpu:2", "ding row remap"),
    ("dcgmi-diag", DIAG_TABLE_4, "dcgm.test.memory", "gpu:4", "GPU4"),
    ("dcgmi-health", HEALTH_BAD, "dcgm.85", "gpu:5", "pending row"),
    ("dcgmi-health", HEALTH_OLD, "dcgm.health.nvlink", "gpu:3", "NVLink system"),
    ("dcgmi-health", HEALTH_JSON, "dcgm.health.thermal", "gpu:0", ""),
    ("dcgm-log", DCGM_LOG, "dcgm.81", "gpu:6", "UNCONTAINED"),
    ("ibstat", RATES, "ib.port.slow", "mlx5_3/1", "CA 'mlx5_4"),
    ("ibstatus", IBSTATUS.format("1: DOWN", "2: Polling"), "ib.port.polling", "mlx5_4/1", "phys state"),
    ("ibstatus", IBSTATUS.format("2: INIT", "5: LinkUp"), "ib.port.init", "mlx5_4/1", "INIT"),
    ("ibv_devinfo", DEVINFO.format("PORT_DOWN (1)", 0, "InfiniBand"), "ib.port.down", "mlx5_2/1", "PORT_DOWN"),
    ("ibv_devinfo", DEVINFO.format("PORT_DOWN (1)", 0, "Ethernet"), "roce.port.down", "mlx5_2/1", "link_layer"),
    ("ibdev2netdev", NETDEVS.format("Down"), "roce.netdev.down", "mlx5_2/1", "ens3f0np0"),
    ("ibdev2netdev", NETDEVS_V, "roce.netdev.down", "mlx5_4/1", "eth4"),
    ("perfquery", PERFQUERY.format(65535), "ib.errors.symbol_error_counter", "lid 12/1", "SymbolError"),
    ("perfquery", QUERYERRORS, "ib.errors.link_downed_counter", "0xfc6a1c0300aa0000/23", "GUID"),
    ("ethtool", ETHTOOL.format("Unknown!", "Unknown! (255)", "no"), "nic.link.down", "ens5f0np0", "Link detected"),
    ("ethtool", ETHTOOL.format("1000Mb/s", "Full", "yes"), "nic.link.slow", "ens5f0np0", "Link detected"),
    ("ethtool", STATISTICS.format(31), "nic.errors.rx_crc_errors_phy", "", "crc"),
    ("ip-link", ip_link(operstate="DOWN", flags=["NO-CARRIER", "UP"]), "nic.link.down", "ens1", ""),
    ("bond", BOND.format("down", 3, 2), "nic.bond.member_down", "ens2", "MII Status: down"),
    ("bond", BOND.format("up", 0, 2), "nic.bond.split", "ens2", "Aggregator ID: 2"),
    ("bond", BOND.format("up", 3, 1), "nic.link.flapped", "ens2", "Count: 3"),
    ("nvme-smart", json.dumps({**SMART_JSON, "critical_warning": 8}, indent=2), "nvme.critical_warning.read_only", "", ""),
    ("smartctl", SMARTCTL.format("FAILED!", "0x01", "4%", "90%"), "nvme.critical_warning.spare", "", "0x01"),
    ("smartctl", SMARTCTL.format("PASSED", "0x00", "4%", "90%"), "nvme.spare", "", "Threshold:"),
    ("smartctl", SMARTCTL.format("PASSED", "0x00", "100%", "180%"), "nvme.worn", "", "180%"),
    ("smartctl", SMARTCTL_ATA.format(16), "smart.sectors.pending", "", "Pending"),
    ("smartctl", SMARTCTL_SAS.format(7, 0), "smart.sectors.reallocated", "", "grown defect"),
    ("smartctl", SMARTCTL_SAS.format(0, 2), "smart.sectors.uncorrectable", "", "read:"),
    ("smartctl", smartctl_json(media_errors=4), "nvme.media_errors", "nvme1", ""),
    ("redfish", redfish_power("Warning"), "host.power.supply", "PSU2", ""),
    ("nccl-tests", NCCL_OLD.format("3e+00"), "nccl.wrong", "", "3e+00"),
    ("nccl-tests", NCCL_OLD.format("2e-07").replace("0 OK", "248 FAILED"), "nccl.wrong", "", "248"),
    ("nccl-tests", NCCL_FAILED, "nccl.failed", "", "Test NCCL"),
    ("nccl-tests-json", nccl_json(5), "nccl.wrong", "", ""),
    ("nccl-log", NCCL_LOG.format(NCCL_STATUS), "nccl.ib.completion", "mlx5_3/1", "status=12"),
    ("nccl-log", NCCL_LOG.format(WATCHDOG), "nccl.timeout", "", "Watchdog"),
    ("perftest", PERFTEST.format("0.00"), "perftest.zero", "mlx5_6", " 65536"),
    ("perftest", PERFTEST_DEAD, "perftest.completion", "mlx5_6", "Failed status"),
    ("perftest", PERFTEST_JSON.format("0.0"), "perftest.zero", "mlx5_6", ""),
    ("nvbandwidth", NVBW.format("11.00"), "gpu.copy.slow", "gpu:2", "11.00"),
    ("nvbandwidth", nvbw_json("Error"), "gpu.copy.failed", "", ""),
    ("fabricmanager", FM + FM_FATAL, "fabric.nvswitch.fatal", "0000:84:00", "fatal error"),
    ("fabricmanager", FM_VERSION, "fabric.version_mismatch", "", "don't match"),
    ("fabricmanager", FM_UNIT, "fabric.service.failed", "", "status=1"),
    ("amd-smi", AMD.format(1, 0), "gpu.amd.ecc.uncorrectable", "gpu:3", "            UNCORRECTABLE_COUNT: 1"),
    ("amd-smi", AMD.format(0, 2), "gpu.amd.ecc.deferred", "gpu:3", "DEFERRED_COUNT: 2"),
    ("amd-smi", amd_json(6), "gpu.amd.ecc.uncorrectable", "gpu:1", ""),
    ("rocm-smi", rocm_json("1"), "gpu.amd.ecc.uncorrectable", "gpu:1", ""),
    ("xpu-smi", XPU.format("Critical"), "gpu.intel.health.gpu_memory", "gpu:1", "Critical"),
    ("sinfo", SINFO_R.format("Not responding       "), "slurm.node.not_responding", "gpu08", "gpu["),
    ("sinfo", SINFO_R.format("NHC: check_gpu_xid fa"), "slurm.node.health_check", "gpu07", "gpu["),
    ("sinfo", SINFO.format("batch*       up   infinite      1  down* gpu03\n"), "slurm.node.not_responding", "gpu03", "down*"),
    ("sinfo", SINFO_N.format("drained"), "slurm.node.drained", "gpu02", "drained"),
    ("scontrol-node", SCONTROL.format("IDLE+DRAIN", "   Reason=Kill task failed [root@2026-12-01T12:48:00]\n"), "slurm.node.kill_task_failed", "gpu05", "Reason"),
    ("scontrol-node", SCONTROL.format("DOWN*+DRAIN", ""), "slurm.node.", "gpu05", "State"),
    ("sacct", SACCT.format(" NODE_FAIL", "1:0"), "slurm.job.node_fail", "", "NODE_FAIL"),
    ("sacct", SACCT_P.format("NODE_FAIL"), "slurm.job.node_fail", "gpu[03-04]", "NODE_FAIL"),
    ("slurm-log", SLURMD.format(SLURMD_BAD), "slurm.node.gres_missing", "gpu09", "gres/gpu"),
    ("alb", ALB.format("-1", "502", "-"), "lb.balancer.502", "10.0.1.7:8000", "502"),
    ("alb", ALB.format("0.2", "500", "500"), "lb.target.500", "10.0.1.7:8000", "500"),
    ("ps", PS.format("D "), "gpu.process.dstate", "", "nvidia-smi"),
    ("lspci", LSPCI.format("32GT/s", "x8 (downgraded)", "a1"), "gpu.pcie.downgraded", "0000:17:00", "x8"),
    ("lspci", LSPCI.format("32GT/s", "x16", "ff"), "gpu.lost", "0000:3a:00", "rev ff"),
    ("nhc", NHC, "host.memory.missing", "", "physmem"),
    ("app-log", APP_LOG.format("RuntimeError: CUDA error: uncorrectable ECC error encountered"), "gpu.ecc.uncorrectable", "", "ECC"),
    ("app-log", PLUGIN, "gpu.xid.79", "GPU-7540a9b3-eeb9-1214-1526-f93c9ea826a8", "XidCritical"),
    ("app-log", XID_METRIC.format(79), "gpu.xid.79", "gpu:3", "XID_ERRORS"),
    ("prose", "(prose) NVLink P2P is dead on that node and collectives fall back to PCIe\n", "gpu.p2p.dead", "", "dead"),
    ("rdma-link", "link mlx5_3/1 subnet_prefix fe80:0000:0000:0000 lid 12 sm_lid 1 lmc 0 state INIT physical_state LINK_UP \n", "ib.port.init", "mlx5_3/1", "INIT"),
    ("prose", "(described) GPU 3 has fallen off the bus after two hours of training\n", "gpu.xid.79", "gpu:3", "fallen"),
]  # fmt: skip
