"""The docs pages of the catalogue, made from it: ``python -m greenroom.faults.docs docs/faults``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from greenroom.faults import FAMILIES, Fault, lookup
from greenroom.faults.families import read

ABOUT = {
    "checks": "What the checks of a node find",
    "xid": "Xid: error reports of the NVIDIA driver",
    "nvlink5": "NVLink 5: sub-codes of Xid 144 to 150",
    "sxid": "SXid: error reports of the NVSwitch driver",
    "dcgm": "DCGM: error ids",
    "nvml": "NVML: return codes",
    "pcie": "PCI Express: AER and links",
    "memory": "Host memory and processors: EDAC and MCE",
    "nic": "Network adapters",
    "nvme": "Drives",
    "host_checks": "What the checks of host, network and storage find",
    "amd": "GPUs of AMD and Intel",
    "gpu_checks": "What the checks of GPUs find besides",
    "texts": "What only texts tell",
    "logs": "What logs and pastes tell besides",
    "own": "What our checks of the host and the kernel log find besides",
}
_NOTE = "Made by `python -m greenroom.faults.docs docs/faults`; do not edit."


def pages() -> dict[str, str]:
    """File name -> Markdown: one page a family, and an index."""
    return {"README.md": _index(), **{f"{family}.md": _page(family) for family in FAMILIES}}


def write(folder: Path) -> None:
    """Write the pages, and remove those of families that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    for old in folder.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")


def _index() -> str:
    rows = []
    for family in FAMILIES:
        faults = read(family).values()
        count = Counter(fault.severity.value for fault in faults)
        disagree = sum(1 for fault in faults if fault.other_sources)
        rows.append(
            f"| [{family}]({family}.md) | {ABOUT[family]} | {len(faults)} | {count['fail']} | "
            f"{count['suspect']} | {count['note']} | {disagree} |"
        )
    unknown = lookup("unknown")
    return "\n".join(
        [
            f"# Faults\n\n{_NOTE}\n",
            "How they were judged: [decision 8](../decisions/0008-fault-catalogue.md).\n",
            f"A code that is not here is a *{unknown.severity}*: {unknown.why}.\n",
            "| family | what it is | codes | fail | suspect | note | sources disagree |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _page(family: str) -> str:
    faults = sorted(read(family).values(), key=lambda fault: _order(fault.code))
    lines = [
        f"# {ABOUT[family]}\n\n{_NOTE}\n",
        "| code | meaning | severity | first remedy | scope | ends with | seen on | why |",
        "|---|---|---|---|---|---|---|---|",
        *(_row(fault) for fault in faults),
        "",
        "## Sources",
        "",
        *(f"- {source}" for source in _sources(faults)),
    ]
    if others := [fault for fault in faults if fault.other_sources]:
        lines += ["", "## Where sources disagree", "", "| codes | others say | our choice |", "|---|---|---|"]
        lines += _disagreements(others)
    return "\n".join([*lines, ""])


def _row(fault: Fault) -> str:
    remedy = fault.remedy.value if fault.severity == "fail" else ""
    cells = (
        f"`{fault.code}`",
        fault.meaning,
        fault.severity.value,
        remedy,
        fault.scope.value,
        fault.clears.value,
        ", ".join(fault.architectures) or "any",
        fault.why,
    )
    return f"| {' | '.join(cells)} |"


def _sources(faults: Iterable[Fault]) -> list[str]:
    return sorted({f"{fault.source} ({fault.source_version})" for fault in faults})


def _disagreements(faults: Iterable[Fault]) -> list[str]:
    alike: dict[tuple[str, str], list[str]] = {}
    for fault in faults:
        says = "; ".join(f"{other.source}: {other.says}" for other in fault.other_sources)
        alike.setdefault((says, fault.choice), []).append(f"`{fault.code}`")
    return [f"| {', '.join(codes)} | {says} | {choice} |" for (says, choice), codes in alike.items()]


def _order(code: str) -> tuple[tuple[int, str], ...]:
    """Numbers as numbers: 9 before 10."""
    return tuple((int(part), "") if part.isdigit() else (1 << 30, part) for part in code.split("."))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
