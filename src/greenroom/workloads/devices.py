"""The devices that a workload puts load on: all GPUs, some, or parts of the processor as a rehearsal."""

from __future__ import annotations

import ctypes
import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from greenroom.workloads.process import Unable, first_line, load_torch, say

T = TypeVar("T")
DEFAULTS: dict[str, Any] = {"devices": [], "cpu": 0, "seed": 1, "deadline_s": 120.0}
"""``devices``: GPUs by index in the order of the PCI bus; none: all. ``cpu``: so many parts of the
processor in their stead, to try a workload out where no GPU is."""
JOIN_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device."""

    torch: ModuleType
    at: Any
    """torch.device."""
    index: int
    name: str
    uuid: str = ""
    pci: str = ""
    parts: int = 1
    """The processor stands for so many devices."""

    @property
    def is_gpu(self) -> bool:
        """Whether it is one: the processor knows no streams."""
        return str(self.at.type) == "cuda"

    @property
    def label(self) -> str:
        """How findings call it."""
        return f"gpu{self.index}" if self.is_gpu else f"cpu{self.index}"

    def wait(self) -> None:
        """Until all that was asked of it is done."""
        if self.is_gpu:
            self.torch.cuda.synchronize(self.at)

    def free_bytes(self) -> int:
        """Memory that nobody uses."""
        if self.is_gpu:
            return int(self.torch.cuda.mem_get_info(self.at)[0])
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        kib = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
        return kib * 1024 // self.parts

    def forget(self) -> None:
        """Give memory back that nothing refers to."""
        if self.is_gpu:
            self.torch.cuda.empty_cache()

    def told(self) -> dict[str, Any]:
        """For the result."""
        return {"device": self.label, "name": self.name, "uuid": self.uuid, "pci": self.pci}


def open_devices(spec: dict[str, Any]) -> list[Device]:
    """The devices of a spec, and a greeting.

    Raises:
        Unable: PyTorch, or a device that is asked for, is not there, or somebody works on it.
    """
    # As NVML counts them; else "fastest first".
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    if not spec["cpu"]:
        refuse_if_busy(spec["devices"])
    torch = load_torch()
    devices = _processor(torch, int(spec["cpu"])) if spec["cpu"] else _gpus(torch, spec["devices"])
    say(
        "hello",
        torch=torch.__version__,
        runtime=runtime(torch),
        devices=[device.told() for device in devices],
    )
    return devices


def refuse_if_busy(wanted: Sequence[int]) -> None:
    """Asked just before the load begins; where there is no NVML, nobody can tell.

    Raises:
        Unable: a process is on one of the GPUs (of all, if none is named).
    """
    try:
        import pynvml  # noqa: PLC0415 - where there is a GPU

        pynvml.nvmlInit()
        gpus = wanted or range(pynvml.nvmlDeviceGetCount())
        handles = {index: pynvml.nvmlDeviceGetHandleByIndex(index) for index in gpus}
        pids = {
            index: [one.pid for one in pynvml.nvmlDeviceGetComputeRunningProcesses(handle)]
            for index, handle in handles.items()
        }
    except Exception:  # noqa: BLE001 - no library, no driver, or a GPU that does not answer
        return
    for index, there in pids.items():
        if there:
            raise Unable(
                f"GPU {index} is in use: process {', '.join(map(str, there[:5]))}; nothing was started"
            )


def runtime(torch: ModuleType) -> str:
    """What PyTorch was built for, e.g. ``cuda 12.8``: results of other builds do not compare."""
    if torch.version.hip:
        return f"rocm {torch.version.hip}"
    return f"cuda {torch.version.cuda}" if torch.version.cuda else "cpu"


def _processor(torch: ModuleType, count: int) -> list[Device]:
    torch.set_num_threads(1)
    cpu = torch.device("cpu")
    return [Device(torch=torch, at=cpu, index=index, name="cpu", parts=count) for index in range(count)]


def _gpus(torch: ModuleType, wanted: Sequence[int]) -> list[Device]:
    count = torch.cuda.device_count()
    if not count:
        raise Unable(f"PyTorch {torch.__version__} ({runtime(torch)}) sees no GPU")
    if missing := [index for index in wanted if not 0 <= index < count]:
        raise Unable(f"GPU {missing[0]} is asked for, PyTorch sees {count}")
    return [_gpu(torch, index) for index in wanted or range(count)]


def _gpu(torch: ModuleType, index: int) -> Device:
    about = torch.cuda.get_device_properties(index)
    bus: list[Any] = [getattr(about, f"pci_{part}_id", None) for part in ("domain", "bus", "device")]
    uuid = str(getattr(about, "uuid", ""))
    return Device(
        torch=torch,
        at=torch.device("cuda", index),
        index=index,
        name=about.name,
        uuid=f"GPU-{uuid}" if uuid and not uuid.startswith("GPU-") else uuid,
        pci="" if None in bus else "{:04x}:{:02x}:{:02x}.0".format(*bus),
    )


def on_all(devices: Sequence[Device], work: Callable[[Device, threading.Barrier], T]) -> dict[str, T | str]:
    """``work`` on every device at once, a thread each; where it broke, why, as text.

    The barrier lets all begin together; who breaks before it does not keep the others.
    """
    start = threading.Barrier(len(devices))
    results: dict[str, T | str] = {}

    def one(device: Device) -> None:
        if device.is_gpu:
            device.torch.cuda.set_device(device.at)
        try:
            results[device.label] = work(device, start)
        except Exception as error:  # noqa: BLE001 - a device's library may raise anything
            results[device.label] = first_line(error)
            start.abort()

    threads = [threading.Thread(target=one, args=(device,), daemon=True) for device in devices]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(JOIN_S)
    return {device.label: results.get(device.label, "it did not end") for device in devices}


def together(start: threading.Barrier) -> None:
    """Wait for the others to come so far, unless one of them broke."""
    try:
        start.wait(60.0)
    except threading.BrokenBarrierError:
        return


def digest(tensor: Any) -> str:  # noqa: ANN401 - torch.Tensor
    """Of all its bits: equal results on equal devices have equal digests."""
    here = tensor.detach().contiguous().cpu()
    size = here.numel() * here.element_size()
    return hashlib.blake2b(ctypes.string_at(here.data_ptr(), size), digest_size=16).hexdigest()


def bits_of(torch: ModuleType, tensor: Any) -> Any:  # noqa: ANN401
    """The same memory as whole numbers, so that NaN and -0.0 compare as what they are."""
    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.contiguous().view(kinds[tensor.element_size()])


def difference(torch: ModuleType, got: Any, want: Any) -> tuple[int, str]:  # noqa: ANN401
    """Elements of which a bit differs, and the first; 0: the same."""
    left, right = bits_of(torch, got).flatten(), bits_of(torch, want).flatten()
    bad = (left != right).nonzero()
    if not len(bad):
        return 0, ""
    index = int(bad[0].item())
    one, other = int(left[index].item()), int(right[index].item())
    width = 2 * got.element_size()
    mask = (1 << (4 * width)) - 1
    flipped = [bit for bit in range(4 * width) if ((one ^ other) & mask) >> bit & 1]
    told = ", ".join(map(str, flipped[:8]))
    shown = (f"{value & mask:#0{width + 2}x}" for value in (one, other))
    return len(bad), "element {}: got {}, expected {} (bit {})".format(index, *shown, told)
