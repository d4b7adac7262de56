"""The indented text of ``nvidia-smi -q`` (whole, or a part that somebody quoted) -> readings per GPU."""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers import gpu_state
from greenroom.parsers.gpu_state import GpuState
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.nvml_words import find_error
from greenroom.parsers.texts import head, integer, lines, pci_address, slug

KIND = "nvidia-smi-q"
_GPU = re.compile(r"^GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])\s*$")
_FIELD = re.compile(r"^(?P<indent>\s*)(?P<label>[A-Za-z][^:]{0,70}?)\s*: ?(?P<value>.*)$")
_SECTION = re.compile(r"^(?P<indent>\s*)(?P<label>[A-Za-z][\w /()-]{0,60})\s*$")
_SIGNS = (
    "NVSMI LOG",
    "Attached GPUs",
    "ECC Errors",
    "Remapped Rows",
    "Clocks Throttle Reasons",
    "Clocks Event Reasons",
    "Retired Pages",
    "GPU Link Info",
    "Product Architecture",
    "GPU Recovery Action",
    "GPU Reset Status",
    "HW Slowdown",
    "HW Thermal Slowdown",
)
_FABRIC = re.compile(r"^[ \t]*Fabric[ \t]*\n[ \t]+State[ \t]*:", re.MULTILINE)


def recognise(text: str) -> float:
    """How sure it is ``nvidia-smi -q``."""
    start = head(text)
    if "NVSMI LOG" in start and "<nvidia_smi_log>" not in start:
        return 0.97
    found = sum(
        1 for sign in _SIGNS if re.search(rf"^[ \t]*{re.escape(sign)}[ \t]*(?::|$)", start, re.MULTILINE)
    )
    return min(0.9, 0.6 + 0.15 * found) if found else (0.6 if _FABRIC.search(start) else 0.0)


def parse_query(text: str) -> list[GpuState]:
    """The GPUs in the order printed. A quoted part without a GPU line is one GPU without a name."""
    gpus = [GpuState()]
    stack: list[tuple[int, str]] = []
    for count, line in lines(text):
        if found := _GPU.match(line):
            gpus.append(GpuState(device=pci_address(found[1])))
            stack = []
        elif found := _FIELD.match(line.expandtabs(8)):
            depth = len(found["indent"])
            _leave(stack, depth)
            path = "/".join([*(name for _, name in stack), slug(found["label"])])
            gpus[-1].put(path, found["value"].strip(), count)
        elif found := _SECTION.match(line.expandtabs(8)):
            depth = len(found["indent"])
            _leave(stack, depth)
            if len(stack) < 10:
                stack.append((depth, slug(found["label"])))
    for gpu in gpus:
        gpu.name = gpu.fields.get("product_name", "")
        gpu.uuid = gpu.fields.get("gpu_uuid", "")
    return gpus if len(gpus) == 1 else gpus[1:]


def _leave(stack: list[tuple[int, str]], depth: int) -> None:
    while stack and stack[-1][0] >= depth:
        stack.pop()


def read(text: str) -> Reading:
    """What the output says of each GPU."""
    book = Notebook(KIND)
    gpus = parse_query(text)
    for gpu in gpus:
        if gpu.device or recognise(text) > 0:
            gpu_state.note(book, gpu)
    attached = re.search(r"^Attached GPUs\s*: *(\d{1,4})", text, re.MULTILINE)
    if attached and (integer(attached[1]) or 0) > sum(1 for gpu in gpus if gpu.device):
        book.puzzled(f"{attached[0]!r}, but fewer are shown: the text is cut")
    for count, line in lines(text):
        if "device handle" in line.lower() and (error := find_error(line)):
            book.add(error.code, error.device, line=count, evidence=line)
    if not book.healthy and not book.sightings:
        book.puzzled("no reading of a GPU was found: " + text[:100])
    return book.reading()
