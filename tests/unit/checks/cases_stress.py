"""GPUs, memory, drives and adapters under load: what the workloads and tools said, and what follows."""

from __future__ import annotations

import json
import sys
from typing import Any

from cases import bad, good
from healthy import expect, gpus

from greenroom.probes.host import Ran, Space
from greenroom.probes.recorded import RecordedHost

COUNT = 8
ROOM = Space(total_bytes=1 << 40, free_bytes=1 << 39, total_inodes=0, free_inodes=0)
WORKLOAD = f"{sys.executable} -m greenroom.workloads"
BUILT = {"torch": "2.13.0", "runtime": "cuda 12.8"}
TFLOPS = {"fp32": 50.0, "tf32": 380.0, "bf16": 700.0, "fp16": 690.0, "fp8": 1250.0}
COPY_GB = {"memory_copy": 2800.0, "memory_triad": 2900.0}
REFUSED = "AcceleratorError: CUDA error: uncorrectable ECC error encountered"


def said(**result: Any) -> str:
    """What a workload prints."""
    lines = [{"event": "hello", **BUILT}, {"event": "result", **BUILT, **result}]
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def host(**outputs: str | Ran) -> RecordedHost:
    """A machine on which workloads and tools say this."""
    commands = {WORKLOAD + " " + name if name in NAMES else name: text for name, text in outputs.items()}
    return RecordedHost(commands=commands)


NAMES = ("gemm", "memory", "copies", "collective")


def device(index: int, **more: Any) -> dict[str, Any]:
    """A GPU as the workloads name it."""
    return {
        "device": f"gpu{index}",
        "name": "NVIDIA H100 80GB HBM3",
        "uuid": f"GPU-{index}",
        "pci": "",
        **more,
    }


def products(samples: dict[str, Any] | None = None, **changes: Any) -> str:
    """Every precision on eight GPUs; ``changes`` are made to bf16 on GPU 2."""
    rows = []
    for index in range(COUNT):
        precisions: dict[str, Any] = {
            precision: {
                "tflops": speed,
                "times": 100,
                "compared": 50,
                "wrong_results": 0,
                "wrong": 0,
                "first_wrong": "",
                "digest": f"d-{precision}",
            }
            for precision, speed in TFLOPS.items()
        }
        if index == 2:
            precisions["bf16"] = {"broke": REFUSED} if "broke" in changes else precisions["bf16"] | changes
        rows.append(device(index, precisions=precisions))
    return said(size=8192, devices=rows, samples=samples or {})


def patterns(**changes: Any) -> str:
    """Nearly all memory of eight GPUs; ``changes`` are of GPU 2."""
    row = {"free_bytes": 80 << 30, "tested_bytes": 76 << 30, "patterns": ["address", "random"], "left_out": [],
           "wrong": 0, "first_wrong": "", "gb_per_s": 1800.0}  # fmt: skip
    broke = {"broke": REFUSED}
    rows = [
        device(i, **((broke if "broke" in changes else row | changes) if i == 2 else row))
        for i in range(COUNT)
    ]
    return said(devices=rows)


def copied(*, wrong: int = 0, launch_us: float = 8.0, broke: bool = False, **speeds: float) -> str:
    """All copies of eight GPUs; ``speeds`` are those of GPU 2."""
    rows: list[dict[str, Any]] = []
    for index in range(COUNT):
        own = {**COPY_GB, "h2d": 55.0, "d2h": 54.0, "p2p": 390.0, **(speeds if index == 2 else {})}
        name = f"gpu{index}"
        rows += [{"what": what, "device": name, "engine": "cores", "gb_per_s": own[what]} for what in COPY_GB]
        for what in ("h2d", "d2h"):
            copy = {"what": what, "device": name, "engine": "copy engine"}
            rows += [copy | {"gb_per_s": own[what], "numa": 0, "near": True}]
            rows += [copy | {"gb_per_s": 20.0, "numa": 1, "near": False}]
        rows.append({"what": "launch", "device": name, "us": launch_us if index == 2 else 8.0})
        for other in set(range(COUNT)) - {index}:
            sent = {"to": f"gpu{other}", "direct": True, "wrong": wrong if (index, other) == (2, 3) else 0}
            rows.append(
                {"what": "p2p", "device": name, "engine": "copy engine", "gb_per_s": own["p2p"], **sent}
            )
    rows += [{"what": "in_memory", "device": "gpu2", "broke": REFUSED}] if broke else []
    return said(size_mib=256, cooled_s=0.0, rows=rows, devices=[device(index) for index in range(COUNT)])


def ranks(busbw: float = 455.0, *, wrong: int = 0, **instead: Any) -> str:
    """One rank of a collective; all say the same."""
    rows = [
        {
            "operation": operation,
            "bytes": 2048 << 20,
            "busbw_median_gb_per_s": busbw,
            "wrong": wrong,
            "first_wrong": "x",
        }
        for operation in ("all_reduce", "all_gather")
    ]
    whole = {"reached": True, "rows": rows, "latency_p50_us": 22.0, "latency_p99_us": 30.0}
    return said(**(instead or whole))


def soaked(**changes: Any) -> str:
    """A long load; ``changes`` are what the samples say of GPU 2."""
    own = {
        "samples": 60,
        "clock_mhz": [1400, 1600, 1980],
        "temperature_c": [50, 68, 71],
        "slowed": {"power cap": 0.9},
    }
    samples = {f"gpu{index}": own | (changes if index == 2 else {}) for index in range(COUNT)}
    return products(samples)


BURN = """GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0)
100.0%  proc'd: {done}   errors: {errors}   temps: 61 C - 60 C
Killing processes.. done

Tested 2 GPUs:
\tGPU 0: OK
\tGPU 1: {state}
"""
BURNT = BURN.format(done="900 (612000 Gflop/s) - 900 (611000 Gflop/s)", errors="0 - 0", state="OK")
FAULTY = BURN.format(done="900 (612000 Gflop/s) - 900 (611000 Gflop/s)", errors="0 - 12", state="FAULTY")
DIED = BURN.format(done="900 (612000 Gflop/s) - -1 (0 Gflop/s)", errors="0 - 1579 (DIED!)", state="FAULTY")
NCCL = """#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
   8388608       2097152     float     sum      -1   120.10   69.85  122.23      0   119.80   70.02  122.54      0
2147483648     536870912     float     sum      -1   8100.2  265.11  {speed}  {wrong}   8099.9  265.12  {speed}      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 244.68
"""


def nvbandwidth(h2d: float = 55.1) -> str:
    """nvbandwidth 0.8 -j with eight GPUs; ``h2d`` is that of GPU 2."""
    line = [["55.0" if column != 2 else str(h2d) for column in range(COUNT)]]
    all_pairs = [["N/A" if row == column else "395.2" for column in range(COUNT)] for row in range(COUNT)]
    tests = [("host_to_device_memcpy_ce", line), ("device_to_host_memcpy_ce", [["54.0"] * COUNT]),
             ("device_to_device_memcpy_read_ce", all_pairs)]  # fmt: skip
    cases = [{"name": name, "status": "Passed", "bandwidth_matrix": matrix} for name, matrix in tests]
    return json.dumps({"nvbandwidth": {"testcases": cases}})


STREAM = """stress-ng: info:  [7] stream: Using CPU cache size of 32768K
stress-ng: info:  [8] stream: memory rate: 10334.86 MB read/sec, 6889.91 MB write/sec, 903.07 Mflop/sec (instance 0)
stress-ng: info:  [9] stream: memory rate: 10173.16 MB read/sec, 6782.11 MB write/sec, 888.94 Mflop/sec (instance 1)
"""


def drives(slow: float = 3000.0, error: int = 0, text: str = "") -> RecordedHost:
    """Five NVMe drives of one model, the first with a file system; ``slow`` MB/s is what the last reads."""
    files = {"/proc/self/mountinfo": "27 1 259:1 / / rw,relatime - ext4 /dev/nvme0n1p1 rw\n"}
    for index in range(5):
        files |= {
            f"/sys/block/nvme{index}n1/size": "7501476528\n",
            f"/sys/block/nvme{index}n1/device/model": "PM9A3  \n",
        }
    files |= {"/sys/block/loop0/size": "8\n", "/var/tmp/x": ""}

    def answer(argv: Any) -> Ran:
        speed = slow if "--filename=/dev/nvme3n1" in argv else 3000.0
        job = {"error": error, "read": {"io_bytes": 1, "bw_bytes": speed * 1e6},
               "write": {"io_bytes": 1, "bw_bytes": 1e9}}  # fmt: skip
        return Ran(argv=(), rc=0, stdout=json.dumps({"jobs": [job]}), stderr=text, seconds=1.0)

    return RecordedHost(files=files, commands={"fio": answer, "rm": ""}, spaces={"/var/tmp": ROOM})


def adapter(speed: float = 392.0, latency: float = 2.1, error: str = "") -> RecordedHost:
    """An adapter that talks to itself."""
    write = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
    write += f" 8388608    5000             {speed + 1}             {speed}           0.005\n"
    small = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]\n"
    small += f" 8       1000          1.9            6.2         {latency}            2.2\n"
    files = {"/sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE\n"}
    return RecordedHost(files=files, commands={"ib_write_bw": error or write, "ib_write_lat": small})


SLOWED = expect(stress__temperature_c_max=85)
NETWORK = expect(gpu__network_all_reduce_gb_per_s_min=30)
IB = expect(infiniband__loopback_gbps_min=380, infiniband__loopback_latency_us_max=4)
CASES = [
    good("gpu_stress.compute", "all right and fast", host=host(gemm=products())),
    bad("gpu_stress.compute", "gpu.compute.wrong", "a wrong number", host=host(gemm=products(wrong=3, first_wrong="element 7: got 0x4000, expected 0x4001 (bit 0)"))),
    bad("gpu_stress.compute", "gpu.compute.wrong", "one result in fifty is another", host=host(gemm=products(wrong_results=1))),
    bad("gpu_stress.compute", "gpu.compute.wrong", "always the same, and not what the others have", host=host(gemm=products(digest="odd"))),
    bad("gpu_stress.compute", "gpu.compute.broke", "the driver gives up on one", host=host(gemm=products(broke=True))),
    bad("gpu_stress.compute", "gpu.compute.slow", "far below the model's limit", host=host(gemm=products(tflops=400.0))),
    bad("gpu_stress.compute", "gpu.compute.uneven", "a fifth behind its neighbours", host=host(gemm=products(tflops=580.0)), expected=expect(gpu__gemm_bf16_tflops_min=500)),
    good("gpu_stress.memory", "all words come back", host=host(memory=patterns())),
    bad("gpu_stress.memory", "gpu.memory.wrong", "a flipped bit", host=host(memory=patterns(wrong=1, first_wrong="walking-ones, byte 0x10: got 0x1, expected 0x3 (bit 1)"))),
    bad("gpu_stress.memory", "gpu.compute.broke", "the driver gives up on one", host=host(memory=patterns(broke=True))),
    good("gpu_stress.copies", "all fast", host=host(copies=copied())),
    good("gpu_stress.copies", "with nvbandwidth", host=host(copies=copied(), nvbandwidth=nvbandwidth())),
    bad("gpu_stress.copies", "gpu.copy.slow", "with nvbandwidth, half the lanes", host=host(copies=copied(), nvbandwidth=nvbandwidth(27.0))),
    bad("gpu_stress.copies", "gpu.copy.slow", "half the lanes", host=host(copies=copied(h2d=27.0))),
    bad("gpu_stress.copies", "gpu.copy.slow", "slow memory", host=host(copies=copied(memory_copy=1900.0))),
    bad("gpu_stress.copies", "gpu.copy.slow", "NVLink lost", host=host(copies=copied(p2p=40.0))),
    bad("gpu_stress.copies", "gpu.copy.failed", "other bits arrive", host=host(copies=copied(wrong=4))),
    bad("gpu_stress.copies", "gpu.compute.broke", "the driver gives up on one", host=host(copies=copied(broke=True))),
    bad("gpu_stress.copies", "gpu.launch.slow", "a launch of 2 ms", host=host(copies=copied(launch_us=2000.0))),
    good("gpu_stress.collectives", "fast and right", host=host(collective=ranks())),
    good("gpu_stress.collectives", "with nccl-tests", host=host(all_reduce_perf=NCCL.format(speed="463.94", wrong=0))),
    bad("gpu_stress.collectives", "nccl.bandwidth.low", "with nccl-tests, slow", host=host(all_reduce_perf=NCCL.format(speed="301.00", wrong=0))),
    bad("gpu_stress.collectives", "nccl.wrong", "with nccl-tests, wrong numbers", host=host(all_reduce_perf=NCCL.format(speed="463.94", wrong=9))),
    bad("gpu_stress.collectives", "nccl.bandwidth.low", "slow", host=host(collective=ranks(320.0))),
    bad("gpu_stress.collectives", "nccl.wrong", "wrong numbers", host=host(collective=ranks(wrong=5))),
    bad("gpu_stress.collectives", "gpu.collective.failed", "they do not meet", host=host(collective=ranks(reached=False, why="timed out"))),
    good("gpu_stress.network", "fast and right", host=host(collective=ranks(45.0)), expected=NETWORK),
    bad("gpu_stress.network", "nccl.bandwidth.low", "slow", host=host(collective=ranks(9.0)), expected=NETWORK),
    bad("gpu_stress.network", "nccl.wrong", "wrong numbers", host=host(collective=ranks(45.0, wrong=1)), expected=NETWORK),
    bad("gpu_stress.network", "gpu.collective.failed", "they lose each other", host=host(collective=ranks(reached=True, broke="reset by peer", rows=[])), expected=NETWORK),
    good("gpu_stress.soak", "at the power cap, cool", host=host(gemm=soaked()), expected=SLOWED),
    good("gpu_stress.soak", "with gpu-burn", host=host(gpu_burn=BURNT), gpus=gpus(count=2), expected=expect(gpu__count=2)),
    bad("gpu_stress.soak", "gpu.memory.miscompute", "gpu-burn finds one faulty", host=host(gpu_burn=FAULTY), gpus=gpus(count=2), expected=expect(gpu__count=2)),
    bad("gpu_stress.soak", "gpu.compute.broke", "gpu-burn's process on one dies", host=host(gpu_burn=DIED), gpus=gpus(count=2), expected=expect(gpu__count=2)),
    bad("gpu_stress.soak", "gpu.throttle.thermal", "heat slows one down", host=host(gemm=soaked(slowed={"heat": 0.4}))),
    bad("gpu_stress.soak", "gpu.throttle.hw", "the power brake slows one down", host=host(gemm=soaked(slowed={"power brake": 0.1}))),
    bad("gpu_stress.soak", "gpu.temperature.high", "hotter than the site allows", host=host(gemm=soaked(temperature_c=[50, 84, 88])), expected=SLOWED),
    bad("gpu_stress.soak", "gpu.ecc.uncorrectable", "a memory error under load", host=host(gemm=soaked(ecc_uncorrected=1))),
    bad("gpu_stress.soak", "gpu.compute.wrong", "wrong when hot", host=host(gemm=products(wrong_results=2))),
    good("memory.bandwidth", "fast enough", host=RecordedHost(commands={"stress-ng": STREAM}), expected=expect(memory__bandwidth_gb_per_s_min=30)),
    bad("memory.bandwidth", "host.memory.slow", "channels lost", host=RecordedHost(commands={"stress-ng": STREAM}), expected=expect(memory__bandwidth_gb_per_s_min=60)),
    good("disk.drives", "four alike", host=drives()),
    good("disk.drives", "one is faster", host=drives(9000.0)),
    bad("disk.drives", "host.disk.slow", "one far behind its like", host=drives(900.0)),
    bad("disk.drives", "host.disk.slow", "below its model's limit", host=drives(2500.0), expected=expect(disk__read_mb_per_s_min=["PM9A3=2900"])),
    bad("disk.drives", "host.disk.corrupt", "other data come back", host=drives(error=84, text="verify: bad header")),
    bad("disk.drives", "host.disk.error", "a write fails", host=drives(error=5)),
    good("infiniband.loopback", "fast", host=adapter(), expected=IB),
    bad("infiniband.loopback", "ib.loopback.slow", "half its speed", host=adapter(196.0), expected=IB),
    bad("infiniband.loopback", "ib.loopback.slow", "slow to answer", host=adapter(latency=9.0), expected=IB),
    bad("infiniband.loopback", "ib.loopback.failed", "a transfer is lost", host=adapter(error=" Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\n"), expected=IB),
]  # fmt: skip
