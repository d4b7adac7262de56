"""``nvidia-smi --query-gpu=... --format=csv`` with or without header and units -> readings per GPU."""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers import gpu_state
from greenroom.parsers.gpu_state import GpuState, address_or_index
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.nvml_words import FAILED_READING, find_error
from greenroom.parsers.texts import head, lines, slug

KIND = "nvidia-smi-csv"
_UNIT = re.compile(r"\s*\[[^\]]{1,12}\]\s*$")
_COLUMNS = re.compile(
    r"^(?:index|name|gpu_name|uuid|gpu_uuid|serial|timestamp|count|pstate|pci\.[\w.]+|gpu_bus_id|driver_version|"
    r"(?:ecc|memory|temperature|power|clocks|utilization|fan|pcie|retired_pages|remapped_rows|fabric|mig|gpu|vbios|"
    r"clocks_throttle_reasons|clocks_event_reasons|persistence_mode|compute_mode|compute_cap)[\w.]*)$"
)
_WITH_UNIT = re.compile(r"^(?:\d+(?:\.\d+)?(?: (?:W|MHz|%|MiB|C))?|P\d{1,2}|\[[A-Z][^\]]*\]|N/A|ERR!)$")
_ADDRESS = re.compile(r"^[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]$")
_MODEL = re.compile(r"NVIDIA|Tesla|GeForce|Quadro|^RTX|^A\d0+\b|^H\d00\b", re.IGNORECASE)
_NAMES = {"gpu_bus_id": "pci_bus_id", "gpu_name": "name", "gpu_uuid": "uuid", "pci_bus_id": "pci_bus_id"}


def recognise(text: str) -> float:
    """How sure it is this CSV: a header of its column names, or rows of values with its units."""
    rows = [line for _, line in lines(head(text)) if line.count(",") >= 1][:20]
    if not rows:
        return 0.0
    if _header(rows[0]):
        return 0.9
    shaped = sum(1 for row in rows if _looks_like_row(row))
    return 0.75 if shaped and shaped * 2 >= len(rows) else 0.0


def _header(row: str) -> list[str]:
    names = [_UNIT.sub("", cell).strip() for cell in row.split(",")]
    return names if len(names) > 1 and all(_COLUMNS.match(name) for name in names) else []


def _looks_like_row(row: str) -> bool:
    cells = [cell.strip() for cell in row.split(",")]
    if len(cells) < 3 or ";" in row:  # a line of /dev/kmsg has both
        return False
    values = sum(1 for cell in cells if _WITH_UNIT.match(cell))
    named = any(_MODEL.search(cell) or _ADDRESS.match(cell) or cell.startswith("GPU-") for cell in cells)
    return named and values * 2 >= len(cells)


def parse_csv(text: str) -> list[GpuState]:
    """The GPUs in the order printed. Without a header columns are called ``column_N``, from 1."""
    gpus: list[GpuState] = []
    names: list[str] = []
    for count, line in lines(text):
        if line.count(",") < 1:
            continue
        if header := _header(line):
            names = [slug(name) for name in header]
            continue
        cells = [cell.strip() for cell in line.split(",")]
        if (names and len(cells) != len(names)) or (not names and not _looks_like_row(line)):
            continue
        gpu = GpuState()
        for index, cell in enumerate(cells[:500]):
            name = names[index] if names else f"column_{index + 1}"
            gpu.put(_NAMES.get(name, name), cell, count)
        gpu.name = gpu.fields.get("name") or next((cell for cell in cells if _MODEL.search(cell)), "")
        bus = gpu.fields.get("pci_bus_id") or next((cell for cell in cells if _ADDRESS.match(cell)), "")
        gpu.device = address_or_index(bus, gpu.fields.get("index", "")) or f"gpu:{len(gpus)}"
        gpus.append(gpu)
    return gpus


def read(text: str) -> Reading:
    """What the table says of each GPU."""
    book = Notebook(KIND)
    gpus = parse_csv(text)
    for gpu in gpus:
        gpu_state.note(book, gpu)
    for count, line in lines(text):
        error = find_error(line) if line.count(",") < 2 and not FAILED_READING.fullmatch(line) else None
        if error:
            book.add(error.code, error.device, line=count, evidence=line)
    if not gpus and not book.sightings:
        book.puzzled("no row with a GPU: " + text[:100])
    return book.reading()
