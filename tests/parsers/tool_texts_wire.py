"""Hand-made outputs: networks, drives, NCCL and the tools that measure."""

from __future__ import annotations

import json

IBSTATUS = """\
Infiniband device 'mlx5_4' port 1 status:
\tdefault gid:\t fe80:0000:0000:0000:0000:0000:0000:0001
\tbase lid:\t 0x2a
\tsm lid:\t\t 0x1
\tstate:\t\t {}
\tphys state:\t {}
\trate:\t\t 400 Gb/sec (4X NDR)
\tlink_layer:\t InfiniBand
"""
DEVINFO = """\
hca_id:\tmlx5_2
\ttransport:\t\t\tInfiniBand (0)
\tfw_ver:\t\t\t\t28.39.1002
\tvendor_part_id:\t\t\t4129
\t\tport:\t1
\t\t\tstate:\t\t\t{}
\t\t\tmax_mtu:\t\t4096 (5)
\t\t\tsm_lid:\t\t\t{}
\t\t\tport_lid:\t\t12
\t\t\tlink_layer:\t\t{}
"""
RATES = "".join(
    f"CA 'mlx5_{n}'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n"
    f"\t\tRate: {200 if n == 3 else 400}\n\t\tSM lid: 1\n\t\tLink layer: InfiniBand\n"
    for n in range(5)
)
NETDEVS = "mlx5_0 port 1 ==> ibp24s0 (Down)\nmlx5_1 port 1 ==> ib1 (Up)\nmlx5_2 port 1 ==> ens3f0np0 ({})\n"
NETDEVS_V = "0000:63:00.0 mlx5_4 (MT4125 - ConnectX) CX6DX fw 22.39.1002 port 1 (DOWN  ) ==> eth4 (Down)\n"
PERFQUERY = """\
# Port counters: Lid 12 port 1 (CapMask: 0x5300)
PortSelect:......................1
CounterSelect:...................0x0000
SymbolErrorCounter:..............{}
LinkErrorRecoveryCounter:........0
LinkDownedCounter:...............0
PortRcvErrors:...................0
PortRcvSwitchRelayErrors:........7
PortXmitDiscards:................0
PortXmitData:....................4294967295
PortXmitWait:....................12
"""
QUERYERRORS = """\
Errors for 0xfc6a1c0300aa0000 "leaf-07"
   GUID 0xfc6a1c0300aa0000 port 23: [LinkDownedCounter == 4] [PortXmitWait == 99]
"""
ETHTOOL = """\
Settings for ens5f0np0:
\tSupported ports: [ FIBRE ]
\tSupported link modes:   25000baseCR/Full
\t                        100000baseSR4/Full
\tAdvertised link modes:  100000baseSR4/Full
\tSpeed: {}
\tDuplex: {}
\tAuto-negotiation: on
\tLink detected: {}
"""
STATISTICS = "NIC statistics:\n     rx_packets: 123\n     rx_crc_errors_phy: {}\n     tx_errors_phy: 0\n     rx_out_of_buffer: 9\n     rx_corrected_bits_phy: 77\n"


def ip_link(**changed):
    nic = {
        "ifname": "ens1",
        "flags": ["BROADCAST", "UP", "LOWER_UP"],
        "mtu": 9000,
        "operstate": "UP",
        **changed,
    }
    bridge = {"ifname": "docker0", "flags": ["NO-CARRIER", "UP"], "mtu": 1500, "operstate": "DOWN"}
    spare = {"ifname": "ens2", "flags": ["BROADCAST"], "mtu": 1500, "operstate": "DOWN"}
    return json.dumps([nic, bridge, spare], indent=0)


BOND = """\
Ethernet Channel Bonding Driver: v6.8.0

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
MII Status: up
MII Polling Interval (ms): 100

802.3ad info
Active Aggregator Info:
\tAggregator ID: 1

Slave Interface: ens1
MII Status: up
Speed: 100000 Mbps
Link Failure Count: 0
Aggregator ID: 1

Slave Interface: ens2
MII Status: {}
Speed: 100000 Mbps
Link Failure Count: {}
Aggregator ID: {}
"""
SMART_JSON = {
    "critical_warning": 0,
    "temperature": 310,
    "avail_spare": 100,
    "spare_thresh": 10,
    "percent_used": 2,
    "media_errors": 0,
    "num_err_log_entries": 7,
}
SMARTCTL = """\
smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)
Model Number:                       ACME 3.84TB
=== START OF SMART DATA SECTION ===
SMART overall-health self-assessment test result: {}

SMART/Health Information (NVMe Log 0x02)
Critical Warning:                   {}
Temperature:                        31 Celsius
Available Spare:                    {}
Available Spare Threshold:          10%
Percentage Used:                    {}
Media and Data Integrity Errors:    0
Error Information Log Entries:      64
"""
SMARTCTL_ATA = """\
smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)
=== START OF READ SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED
ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       0
197 Current_Pending_Sector  0x0032   100   100   000    Old_age   Always       -       {}
"""
SMARTCTL_SAS = """\
smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)
=== START OF READ SMART DATA SECTION ===
SMART Health Status: OK
Elements in grown defect list: {}

Error counter log:
           Errors Corrected by           Total   Correction     Gigabytes    Total
               ECC          rereads/    errors   algorithm      processed    uncorrected
           fast | delayed   rewrites  corrected  invocations   [10^9 bytes]  errors
read:          0        0         0         0          0      91234.567           {}
write:         0        0         0         0          0      12345.678           0
"""
SMARTCTL_JSON = {
    "smartctl": {"version": [7, 3], "exit_status": 0},
    "device": {"name": "/dev/nvme1"},
    "smart_status": {"passed": True},
    "nvme_smart_health_information_log": {
        "critical_warning": 0,
        "available_spare": 100,
        "available_spare_threshold": 10,
        "percentage_used": 1,
        "media_errors": 0,
    },
}


def smartctl_json(**changed):
    log = {**SMARTCTL_JSON["nvme_smart_health_information_log"], **changed}
    return json.dumps({**SMARTCTL_JSON, "nvme_smart_health_information_log": log}, indent=2)


NCCL_OLD = """\
# nThread 1 nGpus 8 minBytes 8 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#       size         count      type   redop     time   algbw   busbw  error     time   algbw   busbw  error
   536870912     134217728     float     sum   4122.0  130.24  227.92  {}   4119.8  130.31  228.05  2e-07
  1073741824     268435456     float     sum   8043.0  133.50  233.62  2e-07   8040.1  133.55  233.70  2e-07
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 230.82
"""
NCCL_FAILED = "node7: Test NCCL failure common.cu:958 'unhandled system error'\n"


def nccl_json(wrong=0):
    place = {"time": 640.2, "alg_bw": 209.6, "bus_bw": 366.9, "nwrong": 0}
    row = {
        "size": 134217728,
        "count": 33554432,
        "type": "float",
        "redop": "sum",
        "root": -1,
        "out_of_place": place,
        "in_place": {**place, "nwrong": wrong},
    }
    return json.dumps(
        {
            "version": "2.17.6",
            "nccl_version": 22900,
            "devices": [{"rank": 0}, {"rank": 1}],
            "results": [row],
            "out_of_bounds": {"count": wrong, "okay": not wrong},
            "average_bus_bandwidth": {"bandwidth": 366.9, "okay": True},
        },
        indent=1,
    )


NCCL_LOG = "gpu01:412:501 [3] NCCL INFO Channel 00/0 : 3[3] -> 4[4] via P2P/CUMEM\n{}\n"
NCCL_STATUS = "gpu01:412:777 [3] net_ib.cc:1295 NCCL WARN NET/IB: Got completion from peer 10.0.0.7<1> with status=12 opcode=0 len=0 vendor err 129 (Send) localGid fe80:: hca mlx5_3"
WATCHDOG = "[rank3]:[E1201 12:48:00.1 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)"

PERFTEST = """\
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF          Device         : mlx5_6
 Number of qps   : 1            Transport type : IB
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      5000             392.11             {}             0.747719
---------------------------------------------------------------------------------------
"""
PERFTEST_DEAD = (
    PERFTEST.split(" 65536", maxsplit=1)[0]
    + "Completion with error at client\nFailed status 12: wr_id 0 syndrom 0x81\n"
)
PERFTEST_LAT = """\
                    RDMA_Write Latency Test
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]
 2       1000          1.80           5.12         1.85     \t       1.86        \t0.05   \t\t2.00    \t\t5.12
"""
PERFTEST_JSON = '{{\ntest_info: {{\ntest: "RDMA_Write BW Test",\nDevice: "mlx5_6",\n}},\nresults: {{\nMsgSize: 65536,\nn_iterations: 5000,\nBW_average: {},\nMsgRate: 0.74,\n}}\n}}\n'

NVBW = """\
nvbandwidth Version: v0.8
CUDA Driver Version: 12080

Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1         2         3
 0     55.34     55.32     {}     55.33

SUM host_to_device_memcpy_ce 221.30

Running device_to_device_memcpy_read_ce.
memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0       N/A    391.10
 1    390.90       N/A

SUM device_to_device_memcpy_read_ce 782.00
"""


def nvbw_json(status="Passed"):
    case = {
        "name": "host_to_device_memcpy_ce",
        "status": status,
        "bandwidth_matrix": [["55.1", "55.2"]],
        "sum": 110.3,
    }
    return json.dumps({"nvbandwidth": {"CUDA Runtime Version": 12080, "testcases": [case]}}, indent=1)


FM = "[Dec 01 2026 12:48:00] [INFO] [tid 411] Fabric Manager version 570.86.15 is running\n[Dec 01 2026 12:48:09] [INFO] [tid 411] Successfully configured all the available GPUs and NVSwitches.\n"
FM_FATAL = "[Dec 01 2026 12:49:00] [ERROR] [tid 420] detected NVSwitch fatal error 10003 on NVSwitch pci 00000000:84:00.0 port 41\n"
FM_VERSION = "Dec  1 12:48:00 gpu01 nv-fabricmanager[900]: fabric manager NVIDIA GPU driver interface version 570.86.15 don't match with driver version 570.124.06.\n"
FM_UNIT = "Dec  1 12:48:00 gpu01 systemd[1]: nvidia-fabricmanager.service: Control process exited, code=exited, status=1/FAILURE\n"

SEL = """\
   1 |  Pre-Init  |0000000012| System Event #0x10 | OEM System boot event | Asserted
   2 | 11/30/2026 | 08:12:01 | Power Supply PS2 Status | Power Supply AC lost | Asserted
   3 | 11/30/2026 | 08:12:41 | Power Supply PS2 Status | Power Supply AC lost | Deasserted
   4 | 12/01/2026 | 10:03:13 | System ACPI Power State ACPI | S0/G0: working | Asserted
{}"""
SDR = """\
Inlet Temp       | 04h | ok  |  7.1 | 24 degrees C
PS1 Status       | C8h | ok  | 10.1 | Presence detected
{}Fan 1            | 30h | ok  | 29.1 | 8400 RPM
NVMe Backplane   | 91h | ns  | 26.0 | No Reading
"""
SDR_SHORT = """\
CPU1 Temp        | 61 degrees C      | ok
P12V             | 12.06 Volts       | ok
FAN4             | {} | {}
PSU1 Redundancy  | 0x01              | ok
"""
SENSOR = """\
CPU1 Temp        | {}     | degrees C  | {}    | 0.000     | 0.000     | 0.000     | 92.000    | 95.000    | 95.000
FAN1             | 9100.000   | RPM        | ok    | 300.000   | 500.000   | 700.000   | 25300.000 | 25400.000 | 25500.000
PS1 Status       | 0x1        | discrete   | 0x0100| na        | na        | na        | na        | na        | na
"""


def redfish_power(health="OK"):
    supplies = [
        {"@odata.id": f"/redfish/v1/Chassis/1/Power#/PowerSupplies/{index}", "Name": f"PSU{index + 1}",
         "LineInputVoltage": 230, "Status": {"State": "Enabled", "Health": one}}
        for index, one in enumerate(("OK", health))
    ]  # fmt: skip
    power = {
        "@odata.type": "#Power.v1_7_0.Power",
        "@odata.id": "/redfish/v1/Chassis/1/Power",
        "Name": "Power",
        "PowerSupplies": supplies,
    }
    return json.dumps(power, indent=2)
