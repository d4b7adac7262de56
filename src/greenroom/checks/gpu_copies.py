"""Do data move right and fast: in the memory of the GPUs, to and from the host, and between them?"""

from __future__ import annotations

from collections.abc import Iterable

from greenroom.checks.bands import grade, twice
from greenroom.checks.expectations import Expected
from greenroom.checks.frame import WITH_LOAD, Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.gpu_load import EXPECTS, TOOL_START_S, Load, broken, figures
from greenroom.checks.optional import run_if_installed
from greenroom.model.results import Finding, Json
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

COPIES = {
    "memory_copy": "gpu.memory_copy_gb_per_s_min",
    "memory_triad": "gpu.memory_triad_gb_per_s_min",
    "h2d": "gpu.h2d_gb_per_s_min",
    "d2h": "gpu.d2h_gb_per_s_min",
    "p2p": "gpu.p2p_gb_per_s_min",
}
COPIES_S = 3.0
"""Load time in which the usual number of copies is made; more time, more copies."""
TIMES, MOST_TIMES = 20, 200
NVBANDWIDTH = {
    "host_to_device_memcpy_ce": "h2d",
    "device_to_host_memcpy_ce": "d2h",
    "device_to_device_memcpy_read_ce": "p2p",
}
SURE = {"gpu.copy.failed", "gpu.compute.broke"}


@check(
    "gpu_stress.copies",
    needs={"torch"},
    cost_s=10.0,
    load_share=0.05,
    detects={"gpu.copy.slow", "gpu.copy.failed", "gpu.compute.broke", "gpu.launch.slow"},
    expects={*EXPECTS, *COPIES.values(), "gpu.launch_us_max"},
    stage=Stage.WARN,
    vendors={"nvidia", "amd"},
    profiles=WITH_LOAD,
)
def copies(facts: Facts, host: Host, expected: Expected) -> Answer:
    """Copy and triad in GPU memory, pinned copies from and to each NUMA node, all pairs of GPUs, launches.

    GPUs cool down before, if hot. Data that went from GPU to GPU are compared. Where nvbandwidth is
    installed it makes the copies to the host and between GPUs.
    """
    load = Load.take(facts, host, expected)
    if isinstance(load, NotApplicable):
        return load
    return twice(lambda load_s: _copies(load, load_s), load_s=facts.load_s, host=host, sure=SURE)


def _copies(load: Load, load_s: float) -> Looked:
    theirs = None if load.rehearsal else _nvbandwidth(load, load_s)
    times = int(min(MOST_TIMES, max(5, TIMES * load_s / COPIES_S)))
    result = load.run("copies", load_s, times=times, links=theirs is None, cool_s=round(load_s / 4, 1))
    rows = [row | {"device": result["names"].get(row["device"], row["device"])} for row in result["rows"]]
    findings = broken((row["device"], f"{row['what']}: {row['broke']}") for row in rows if "broke" in row)
    told = figures(
        (f"{row['what']}_gb_per_s", _part(row), row["gb_per_s"]) for row in rows if "gb_per_s" in row
    )
    told |= figures(("launch_us", row["device"], row["us"]) for row in rows if "us" in row)
    if not told and not findings:
        raise ProbeUnavailable("copies: nothing was measured")
    judged = [
        (row["what"], _part(row), row["gb_per_s"])
        for row in rows
        if row.get("near", row.get("direct", True)) and "gb_per_s" in row
    ]
    if theirs is not None:
        judged += theirs
        told |= figures((f"{what}_gb_per_s", part, value) for what, part, value in theirs)
    findings += _judge_copies(load.expected, judged) + [
        found(
            "gpu.copy.failed",
            subject=row["device"],
            message=f"{row['wrong']} words arrived wrong at {row['to']}",
            measured=f"{row['wrong']} words",
        )
        for row in rows
        if row.get("wrong")
    ]
    for label, value in told.get("launch_us", {}).items():
        one = grade(
            load.expected["gpu.launch_us_max"],
            value,
            code="gpu.launch.slow",
            subject=label,
            what="launch",
        )
        findings += [one] if one else []
    engines = {row["what"]: row["engine"] for row in rows if "engine" in row}
    looked = {
        "comparable": load.comparable(result, f"{result['size_mib']} MiB"),
        "tool": "nvbandwidth" if theirs is not None else "greenroom",
        "engines": engines
        | (dict.fromkeys(NVBANDWIDTH.values(), "copy engine") if theirs is not None else {}),
        "cooled_s": result["cooled_s"],
        "figures": told,
    }
    return Looked(looked=looked, findings=tuple(findings))


def _part(row: Json) -> str:
    """``gpu0``, ``gpu0 numa1``, ``gpu0-gpu3``."""
    numa = f" numa{row['numa']}" if "numa" in row else ""
    return f"{row['device']}-{row['to']}" if "to" in row else f"{row['device']}{numa}"


def _judge_copies(expected: Expected, rows: Iterable[tuple[str, str, float]]) -> list[Finding]:
    """One finding a GPU and kind: its slowest."""
    slowest: dict[tuple[str, str], tuple[float, str]] = {}
    for what, part, value in rows:
        gpu = part.split("-")[0].split(" ")[0]
        slowest[what, gpu] = min(slowest.get((what, gpu), (value, part)), (value, part))
    graded = [
        grade(
            expected[COPIES[what]],
            value,
            code="gpu.copy.slow",
            subject=gpu,
            what=f"{what} {part}" if part != gpu else what,
        )
        for (what, gpu), (value, part) in slowest.items()
    ]
    return [one for one in graded if one]


def _nvbandwidth(load: Load, load_s: float) -> list[tuple[str, str, float]] | None:
    """(what, part, GB/s) of each copy it made; None: it is not installed.

    Raises:
        ProbeUnavailable: it could not make one of them.
    """
    argv = [load.tool("nvbandwidth"), "-j", *(word for name in NVBANDWIDTH for word in ("-t", name))]
    ran = run_if_installed(load.host, argv, timeout_s=load_s + TOOL_START_S)
    if ran is None:
        return None
    from greenroom.parsers import nvbandwidth  # noqa: PLC0415 - only where the tool is

    tests = {test.name: test for test in nvbandwidth.parse_output(ran.stdout)}
    rows = []
    for name, what in NVBANDWIDTH.items():
        test = tests.get(name)
        if test is not None and test.status == "waived" and what == "p2p":
            continue  # no GPU reaches another
        if test is None or not test.cells:
            said = (
                (test.messages if test else ())
                or (ran.stderr + ran.stdout).strip().splitlines()
                or ["no answer"]
            )
            raise ProbeUnavailable(f"nvbandwidth: {name}: exit {ran.rc}: {said[0]:.200}")
        for (row, column), value in sorted(test.cells.items()):
            part = f"gpu{row}-gpu{column}" if what == "p2p" else f"gpu{column}"
            rows.append((what, part, value))
    return rows
