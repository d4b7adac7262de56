"""Stand-in GPUs: builds the stand-in driver library and writes what its GPUs look like."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).with_name("nvml.c")
STATE_ENV = "GREENROOM_LAB_GPUS"
"""Names the state file to the library; LD_LIBRARY_PATH must name the folder of the library."""
COMPILER_TIMEOUT_S = 120
FLAGS = ("-O1", "-Wall", "-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-soname,libnvidia-ml.so.1")
BUS = (0x1A, 0x40, 0x53, 0x66, 0x9C, 0xC0, 0xD2, 0xE4)

# Readings of a healthy idle GPU; datasheets of the models, and nvml.h for what is 0 or 1.
MODELS: dict[str, dict[str, object]] = {
    "h100": {"name": "NVIDIA H100 80GB HBM3", "memory.total": 85_520_809_984, "pcie": 5, "nvlink": 18},
    "h200": {"name": "NVIDIA H200", "memory.total": 150_754_820_096, "pcie": 5, "nvlink": 18},
    "a100": {"name": "NVIDIA A100-SXM4-80GB", "memory.total": 85_899_345_920, "pcie": 4, "nvlink": 12},
}


class LabError(Exception):
    """The lab cannot be set up; the text says what is missing or wrong."""


@dataclass(slots=True, kw_only=True)
class Fleet:
    """The GPUs of one node, as lines of the state file."""

    node: dict[str, object]
    shared: dict[str, object]
    gpus: list[dict[str, object]] = field(default_factory=list)

    def text(self) -> str:
        """The state file."""
        rows = [f"node.{key}={value}" for key, value in self.node.items()]
        rows.append(f"node.count={len(self.gpus)}")
        rows += [f"gpus.{key}={value}" for key, value in self.shared.items()]
        for index, gpu in enumerate(self.gpus):
            rows += [f"{index}.{key}={value}" for key, value in gpu.items()]
        return "\n".join([*rows, ""])


def build_driver(folder: Path) -> Path:
    """Compile the stand-in once for each version of its source; the folder to put on LD_LIBRARY_PATH.

    Raises:
        LabError: no C compiler, or it failed.
    """
    digest = hashlib.sha256(SOURCE.read_bytes() + " ".join(FLAGS).encode()).hexdigest()[:16]
    place = folder / f"nvml-{digest}"
    library = place / "libnvidia-ml.so.1"
    if library.exists():
        return place
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        raise LabError("no C compiler (cc); on Debian: apt install gcc libc6-dev")
    place.mkdir(parents=True, exist_ok=True)
    draft = place / f".draft.{os.getpid()}"
    argv = [compiler, *FLAGS, "-o", str(draft), str(SOURCE), "-lpthread"]
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=COMPILER_TIMEOUT_S, check=False)
    if ran.returncode != 0:
        raise LabError(f"the stand-in driver does not compile: {ran.stderr[-2000:]}")
    link = place / "libnvidia-ml.so"
    if not link.is_symlink():
        link.symlink_to(library.name)
    draft.replace(library)
    return place


def write_state(
    path: Path,
    *,
    node: str,
    gpus: int = 8,
    model: str = "h100",
    serial_seed: str = "",
    faults: Iterable[str] = (),
) -> Fleet:
    """Write the state file of one node's GPUs. Serials follow from seed and node: the same every time.

    A fault is a name of FAULTS, alone (GPU 2) or with the GPU's index: ``ecc``, ``ecc:5``.

    Raises:
        LabError: no such model or fault.
    """
    if model not in MODELS:
        raise LabError(f"no GPU model {model!r}; there are {', '.join(MODELS)}")
    fleet = _healthy(node=node, gpus=gpus, model=model, seed=serial_seed)
    for fault in faults:
        name, _, index = fault.partition(":")
        if name not in FAULTS:
            raise LabError(f"no GPU fault {name!r}; there are {', '.join(FAULTS)}")
        if gpus:
            FAULTS[name](fleet, int(index or min(2, gpus - 1)) % gpus)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(fleet.text(), encoding="utf-8")
    draft.replace(path)
    return fleet


def _healthy(*, node: str, gpus: int, model: str, seed: str) -> Fleet:
    about = dict(MODELS[model])
    gen, links = about.pop("pcie"), about.pop("nvlink")
    shared: dict[str, object] = {
        **about,
        **dict.fromkeys(("ecc.enabled", "persistence", "clock_reasons"), 1),
        **dict.fromkeys(("compute_mode", "display", "mig", "busy.gpu", "busy.memory", "memory.used"), 0),
        **{
            f"ecc.{age}.{kind}": 0
            for age in ("volatile", "aggregate")
            for kind in ("corrected", "uncorrected")
        },
        **dict.fromkeys(("remap.corrected", "remap.uncorrected", "remap.pending", "remap.failed"), 0),
        "pcie.gen": gen,
        "pcie.gen_max": gen,
        "pcie.width": 16,
        "pcie.width_max": 16,
        "pcie.replays": 0,
        "nvlink.links": links,
        "nvlink.up": links,
        "nvlink.version": 7,
        "vbios": "96.00.74.00.01",
        "inforom": "G520.0200.00.05",
        "inforom.code": 0,
        "gsp": "570.124.06",
        **{f"remap.banks.{room}": 0 for room in ("high", "partial", "low", "none")},
        "remap.banks.max": 640,
        **dict.fromkeys(("sram.uncorrected", "sram.exceeded", "p2p"), 0),
        **dict.fromkeys(
            ("field.161", "field.162", "field.163", "field.230", "field.75", "field.271"), 0
        ),  # NVLink errors, recovery
        "field.164": 26_562,  # MB/s of a link
        "field.82": 38,  # memory, °C
        "fabric.state": 3,
        "fabric.status": 0,
        "fabric.health": 0b10101010 | 1 << 8,
        "power_default_mw": 700_000,
        "pstate": 0,
        "energy_mj": 123_456_789,
        "busy.encoder": 0,
        "busy.decoder": 0,
        "busy.period_us": 1_000_000,
        "temperature.0": 31,
        "temperature_limit.0": 95,
        "temperature_limit.1": 92,
        "power_mw": 71_000,
        "power_limit_mw": 700_000,
        "compute.major": 9,
        "compute.minor": 0,
        **{f"clock_mhz.{which}": 345 for which in range(4)},
        **{f"clock_max_mhz.{which}": 1980 for which in range(4)},
    }
    driver = {"driver": "570.124.06", "nvml": "12.570.124.06", "cuda": 12080}
    return Fleet(node=driver, shared=shared, gpus=[_identity(seed, node, index) for index in range(gpus)])


def _identity(seed: str, node: str, index: int) -> dict[str, object]:
    digest = hashlib.sha256(f"{seed}/{node}/{index}".encode()).hexdigest()
    uuid = "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))
    return {
        "uuid": f"GPU-{uuid}",
        "serial": f"165{int(digest[:12], 16) % 10**10:010d}",
        "pci": f"{index // len(BUS):08X}:{BUS[index % len(BUS)]:02X}:00.0",
    }


def _set(**values: object) -> Callable[[Fleet, int], None]:
    """A fault that changes readings of one GPU; two underscores in a name stand for the dot."""
    return lambda fleet, index: fleet.gpus[index].update(
        {key.replace("__", "."): value for key, value in values.items()}
    )


def _remove(fleet: Fleet, index: int) -> None:
    del fleet.gpus[index]


def _refuse(code: int) -> Callable[[Fleet, int], None]:
    return lambda fleet, _: fleet.node.update({"init": code})


# Return codes of nvml.h: 9 driver not loaded, 15 GPU is lost, 16 reset required, 18 version mismatch.
FAULTS: dict[str, Callable[[Fleet, int], None]] = {
    "missing": _remove,
    "ecc": _set(ecc__volatile__uncorrected=3, ecc__aggregate__uncorrected=3),
    "remap-pending": _set(remap__pending=1, remap__uncorrected=1),
    "remap-failure": _set(remap__failed=1, remap__uncorrected=512),
    "throttle": _set(clock_reasons=0x48, temperature__0=91),
    "pcie": _set(pcie__width=8),
    "nvlink": _set(nvlink__up=17),
    "nvlink-errors": _set(field__162=3),
    "p2p": _set(p2p=5),
    "fabric": _set(fabric__status=999),
    "fabric-pending": _set(fabric__state=2),
    "inforom": _set(inforom__code=14),
    "vbios": _set(vbios="96.00.61.00.02"),
    "persistence": _set(persistence=0),
    "sram": _set(sram__uncorrected=12, sram__exceeded=1),
    "recovery": _set(field__230=1),
    "hot": _set(temperature__0=91, field__82=104),
    "power-limit": _set(power_limit_mw=400_000),
    "left-over": _set(processes="1:1073741824", memory__used=2_147_483_648),
    "lost": _set(fail=15),
    "reset-required": _set(fail=16),
    "hang": _set(hang=1),
    "no-driver": _refuse(9),
    "mismatch": _refuse(18),
}
