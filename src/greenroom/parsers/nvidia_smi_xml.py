"""``nvidia-smi -q -x`` -> readings per GPU.

The XML is read by a scanner of its own: tags and the text after them, no entities, no declarations,
so that no document can make it expand or fetch anything; a text that is cut short is read as far as it goes.
"""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers import gpu_state
from greenroom.parsers.gpu_state import GpuState
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, integer, pci_address

KIND = "nvidia-smi-xml"
_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z_][\w.-]{0,80})(?P<rest>[^<>]{0,500})>(?P<text>[^<]{0,1000})"
)
_ID = re.compile(r"""\bid="([^"]{1,40})\"""")
_MAX_DEPTH = 20


def recognise(text: str) -> float:
    """How sure it is this XML."""
    start = head(text)
    if "<nvidia_smi_log" in start:
        return 0.98
    return 0.6 if re.search(r"<gpu id=\"[0-9A-Fa-f:.]+\">", start) else 0.0


def parse_xml(text: str) -> list[GpuState]:
    """The GPUs in the order printed."""
    gpus: list[GpuState] = []
    path: list[str] = []
    line, at = 1, 0
    for tag in _TAG.finditer(text):
        line += text.count("\n", at, tag.start())
        at = tag.start()
        name = tag["name"]
        if tag["close"]:
            while path and path.pop() != name:
                pass
            continue
        if name == "gpu" and "gpu" not in path:
            found = _ID.search(tag["rest"])
            gpus.append(GpuState(device=pci_address(found[1]) if found else f"gpu:{len(gpus)}"))
        if not tag["rest"].endswith("/") and len(path) < _MAX_DEPTH:
            path.append(name)
        value = tag["text"].strip()
        if value and gpus and "gpu" in path:
            inner = path[path.index("gpu") + 1 :]
            if inner and inner[0] not in {"processes", "accounted_processes", "supported_clocks"}:
                gpus[-1].put("/".join(inner), value, line)
    for gpu in gpus:
        gpu.name = gpu.fields.get("product_name", "")
        gpu.uuid = gpu.fields.get("uuid", "")
    return gpus


def read(text: str) -> Reading:
    """What the document says of each GPU."""
    book = Notebook(KIND)
    gpus = parse_xml(text)
    for gpu in gpus:
        gpu_state.note(book, gpu)
    attached = re.search(r"<attached_gpus>(\d{1,4})<", text)
    if attached and (integer(attached[1]) or 0) > len(gpus):
        book.puzzled(f"{attached[1]} GPUs attached, {len(gpus)} shown: the text is cut")
    if "</nvidia_smi_log>" not in text:
        book.puzzled("the document is not complete")
    if not gpus:
        book.puzzled("no <gpu> in the document")
    return book.reading()
