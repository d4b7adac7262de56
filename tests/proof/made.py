"""A text for each fault whose report has a regular form, and for those no other test has a text of."""

from __future__ import annotations

from collections.abc import Iterator

from greenroom.faults.families import raw, read
from greenroom.faults.nvlink import decode_nvlink5
from greenroom.parsers import aer

PCI = "PCI:0000:c9:00"
NVML_WORDS = {
    "nvml.4": "Insufficient Permissions",
    "nvml.8": "Insufficient External Power",
    "nvml.11": "Interrupt Request Issue",
    "nvml.14": "Corrupted infoROM",
    "nvml.17": "GPU access blocked by the operating system",
    "nvml.23": "Insufficient Resources",
    "nvml.28": "GPU not found",
    "nvml.999": "Unknown Error",
}
"""Those of nvmlErrorString that tools print of a GPU they could not read."""


def texts() -> Iterator[str]:
    """All of them."""
    for code in read("xid"):
        number = code.rpartition(".")[2]
        yield f"NVRM: Xid ({PCI}): {number}, pid=4711, name=python3, something happened"
    for code in read("sxid"):
        yield f"nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): {code.rpartition('.')[2]}, Link 28"
    for words in NVML_WORDS.values():
        yield f"Unable to determine the device handle for GPU 0000:C9:00.0: {words}"
    yield from _aer()
    yield from _nvlink5()
    yield from OTHERS


def _aer() -> Iterator[str]:
    for code in read("pcie"):
        if code.startswith("pcie.aer.") and code.count(".") == 3:
            _, _, word, kind = code.split(".")
            bit = next(bit for bit, name in aer.KINDS.items() if name == kind)
            said = "Uncorrectable (Fatal)" if word == "fatal" else "Uncorrectable (Non-Fatal)"
            yield (
                f"[  812.345679] nvidia 0000:ca:00.0: PCIe Bus Error: severity={said}, type=Transaction Layer, (Receiver ID)\n"
                f"[  812.345680] nvidia 0000:ca:00.0:   device [10de:2330] error status/mask={1 << bit:08x}/00000000\n"
            )


def _nvlink5() -> Iterator[str]:
    """Backwards through the table: the numbers whose decoding is the sub-code, as branch 575 prints them."""
    for unit in raw("nvlink5")["unit"].values():
        for label, value in unit["v2"].items():
            for cause in range(64) if unit["by"] == "cause" else (0,):
                for status in (1 << bit for bit in range(32)) if unit["by"] == "bits" else range(8):
                    if decode_nvlink5(
                        unit["xid"], value | cause << 20, status, driver_branch=575, unit=label
                    ):
                        numbers = " ".join(
                            f"0x{one:08x}" for one in (value | cause << 20, status, 0, 0, 0, 0)
                        )
                        yield (
                            f"NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  575.57.08\n"
                            f"NVRM: Xid ({PCI}): {unit['xid']}, {label} Nonfatal XC0 i0 Link 01 ({numbers})\n"
                        )


def _port(state: str, physical: str, layer: str = "InfiniBand", rate: int = 400) -> str:
    return IBSTAT.format(state=state, physical=physical, layer=layer, rate=rate)


def _fabric(words: str) -> str:
    return f"[Dec 01 2026 10:00:00] [ERROR] [tid 812] {words}\n"


def _nccl(words: str) -> str:
    return f"node7:4711:4810 [3] NCCL WARN {words}\n"


IBSTAT = """CA 'mlx5_3'
\tCA type: MT4129
\tNumber of ports: 1
\tPort 1:
\t\tState: {state}
\t\tPhysical state: {physical}
\t\tRate: {rate}
\t\tBase lid: 12
\t\tSM lid: 1
\t\tLink layer: {layer}
"""
SMI_Q = "==============NVSMI LOG==============\n\nGPU 00000000:18:00.0\n    Product Name                          : NVIDIA H100 80GB HBM3\n    ECC Mode\n        Current                           : Enabled\n{}"
SACCT = "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode\n------------ ---------- ---------- ---------- ---------- ---------- --------\n4711              train      batch       team         64 {} 0:0\n"
PS = "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\nroot           1  0.0  0.0 169000 12000 ?        Ss   Nov30   0:09 /sbin/init\nuser        4242  0.0  0.0  16488  4056 ?        {}    Nov30   0:00 python3 train.py\n"
SINFO = "NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY\ngpu01          1    batch*        idle 128    2:64:1 515000\ngpu02          1    batch*       {} 128    2:64:1 515000\n"
SINFO_R = "REASON               USER      TIMESTAMP           NODELIST\n{}  root      2026-12-01T12:48:00 gpu[07-08]\n"
NCCL_DROP = """# nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
    67108864      16777216     float     sum      -1   320.10   209.6  366.89      0   319.80   209.7  367.06      0
   134217728      33554432     float     sum      -1  2640.20   50.65   88.89      0  2639.90   50.75   89.06      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 227.97
"""
OTHERS = [
    _port("Down", "Disabled"),
    _port("Down", "Disabled", "Ethernet"),
    _port("Down", "Disabled", "Unspecified"),
    _port("Down", "Polling", "Ethernet"),
    _port("Initializing", "LinkUp", "Ethernet"),
    _port("Active", "LinkErrorRecovery", "Ethernet"),
    _port("Down", "LinkUp"),
    "".join(
        _port("Active", "LinkUp", "Ethernet", rate).replace("_3", f"_{rate % 7}")
        for rate in (400, 401, 402, 100)
    )
    .replace("401", "400")
    .replace("402", "400"),
    NCCL_DROP,
    "+----------------------+\n| NvLink Link Status |\n+----------------------+\nNvSwitches:\n    physicalId 2:\n        D D D D U U U U\nKey: Up=U, Down=D, Disabled=X, Not Supported=_\n",
    *map(
        _fabric,
        (
            "fatal error on the partition",
            "access link training failed on GPU 3",
            "trunk link failed",
            "unable to open the device",
            "non-fatal error on NVLink 4 of GPU 1",
            "nothing to do",
        ),
    ),
    *map(
        _nccl,
        (
            "something odd",
            "Bootstrap : no socket interface found",
            "Connection refused by 10.0.0.9",
            "Error: /dev/shm is full",
            "ncclSystemError: system call failed",
            "Cuda failure 'an error'",
            "NVLS multicast bind failed",
            "NET/IB : mlx5_0:1 async fatal event: local access",
            "NET/IB : mlx5_0:1 Got async event : port error",
            "Call to ibv_create_qp failed",
        ),
    ),
    "ERROR: nhc: Health check failed: check_ib_bw: ib_write_bw of mlx5_0 is 180 Gb/s\n",
    "ERROR: nhc: Health check failed: check_hw_cpuinfo: Actual CPU count 64 is less than 128\n",
    "ERROR: nhc: Health check failed: check_gpu_xid: GPU Xid errors detected\n",
    "ERROR: nhc: Health check failed: check_ib_link_flapping: mlx5_2 had 4 link flaps\n",
    "ERROR: nhc: Health check failed: check_something_own: it is not well\n",
    "gpu07 | ERROR: No results reported\n",
    SMI_Q.format("    ECC Errors\n        Channel Repair Pending            : Yes\n"),
    SMI_Q.format("    ECC Errors\n        Unrepairable Memory               : Yes\n"),
    *(SACCT.format(f"{state:>10}") for state in ("FAILED", "TIMEOUT", "OUT_OF_ME+", "BOOT_FAIL")),
    *(SINFO.format(state) for state in ("blocked", "fail")),
    *(
        SINFO_R.format(reason)
        for reason in (
            "Node unexpectedly rebooted",
            "Prolog error",
            "Epilog error",
            "action: reboot please",
            "Xid 79 on gpu 3",
            "mlx5_2 link down",
            "reboot ASAP",
            "batch job complete failure",
        )
    ),
    "GPU: 3\n    XGMI:\n        LINK_0:\n            STATUS: DOWN\n    BAD_PAGES:\n        RETIRED_STATUS: PENDING\n",
    "============================ ROCm System Management Interface ============================\nGPU[0]\t\t: Pending Pages: 3\n",
    '{"device_id": 1, "device_level": [{"metrics_type": "XPUM_STATS_RAS_ERROR_CAT_NON_COMPUTE_ERRORS_UNCORRECTABLE", "value": 4}]}',
    "+-----------+--------------------------------------+\n| Device ID | 1                                    |\n| 1         | ECC State: disabled                  |\n+-----------+--------------------------------------+\n",
    *(
        f"2026-12-01 03:12:44.123 WARN  [812:814] GPU 3: {name} not supported by design\n"
        for name in ("DCGM_FR_NVLINK_DOWN", "DCGM_FR_PCIE_WIDTH", "DCGM_FR_GPU_EXPECTED_NVLINKS_UP")
    ),
    "17:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]\n\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported\n\t\tLnkSta:\tSpeed 32GT/s, Width x8 (downgraded)\n",
    "GPU 0: NVIDIA H100 PCIe (UUID: GPU-12)\n\t Link 0: <inactive>\n\t Link 1: <inactive>\n",
    "Settings for eth0:\n\tSpeed: 100000Mb/s\n\tDuplex: Half\n\tLink detected: yes\n",
    "BUG: soft lockup - CPU#3 stuck for 22s! [nvidia-smi:4711]\n",
    PS.format("D "),
    PS.format("Zs"),
]
