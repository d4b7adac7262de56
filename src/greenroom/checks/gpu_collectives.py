"""Do the GPUs of a machine work together: right, and as fast as they should?"""

from __future__ import annotations

from greenroom.checks.bands import grade, twice
from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.gpu_load import EXPECTS, OPERATIONS, TOOL_START_S, Load, figures
from greenroom.checks.gpu_stress import LONG
from greenroom.checks.optional import run_if_installed
from greenroom.model.results import Finding, Json
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

SURE = {"nccl.wrong"}
MIB = 1 << 20


@check(
    "gpu_stress.collectives",
    needs={"torch"},
    cost_s=15.0,
    load_share=0.04,
    detects={"nccl.wrong", "nccl.bandwidth.low", "gpu.collective.failed"},
    expects={*EXPECTS, "stress.collective_mib", "gpu.collective_ranks", "gpu.all_reduce_gb_per_s_min"},
    stage=Stage.WARN,
    vendors={"nvidia", "amd"},
    profiles=LONG,
)
def collectives(facts: Facts, host: Host, expected: Expected) -> Answer:
    """All-reduce and all-gather over all GPUs of the node; numbers are compared, busbw is as in nccl-tests.

    Where nccl-tests is installed (all_reduce_perf) it is run instead.
    """
    return _ask(facts, host, expected, "gpu.all_reduce_gb_per_s_min", network_only=False)


@check(
    "gpu_stress.network",
    needs={"torch"},
    cost_s=15.0,
    load_share=0.04,
    detects={"nccl.wrong", "nccl.bandwidth.low", "gpu.collective.failed"},
    expects={
        *EXPECTS,
        "stress.collective_mib",
        "gpu.collective_ranks",
        "gpu.network_all_reduce_gb_per_s_min",
    },
    stage=Stage.WARN,
    vendors={"nvidia", "amd"},
    profiles=LONG,
)
def network(facts: Facts, host: Host, expected: Expected) -> Answer:
    """The same collectives with peer access and shared memory switched off: all goes over the adapters."""
    return _ask(facts, host, expected, "gpu.network_all_reduce_gb_per_s_min", network_only=True)


def _ask(facts: Facts, host: Host, expected: Expected, limit: str, *, network_only: bool) -> Answer:
    load = Load.take(facts, host, expected)
    if isinstance(load, NotApplicable):
        return load
    if len(load.gpus) < 2:
        return NotApplicable("one GPU: there is nobody to talk to")

    def measure(load_s: float) -> Looked:
        return _collectives(load, load_s, limit, network_only=network_only)

    return twice(measure, load_s=facts.load_s, host=host, sure=SURE)


def _collectives(load: Load, load_s: float, limit: str, *, network_only: bool) -> Looked:
    size_mib = int(load.expected.number("stress.collective_mib") or 1024)
    if not load.rehearsal and not network_only and (theirs := _nccl_tests(load, load_s, size_mib)):
        return theirs
    results = load.run_ranks(load_s, network_only=network_only, size_mib=size_mib)
    lost = [(rank, one) for rank, one in enumerate(results) if not one.get("reached") or one.get("broke")]
    findings = [
        found(
            "gpu.collective.failed",
            subject=f"rank {rank}",
            message=f"the ranks did not stay together: {one.get('broke') or one.get('why')}",
        )
        for rank, one in lost[:1]
    ]
    rows = [row | {"rank": rank} for rank, one in enumerate(results) for row in one.get("rows", ())]
    findings += [
        found(
            "nccl.wrong",
            subject=load.gpus[row["rank"]].label,
            message=f"{row['wrong']} wrong numbers of {row['operation']}; {row['first_wrong']}",
            measured=f"{row['wrong']} numbers",
        )
        for row in rows
        if row["wrong"]
    ]
    told = {
        f"{operation}_gb_per_s": min(row["busbw_median_gb_per_s"] for row in own)
        for operation in OPERATIONS
        if (own := [row for row in rows if row["operation"] == operation])
    }
    latency = {name: results[0][name] for name in ("latency_p50_us", "latency_p99_us") if name in results[0]}
    looked = {
        "comparable": load.comparable(results[0], f"{rows[0]['bytes'] // MIB} MiB", f"{len(results)} ranks")
        if rows
        else "",
        "tool": "greenroom",
        "figures": figures((name, "all", value) for name, value in (told | latency).items()),
        "network_only": network_only,
    }
    return _judge_collectives(load, looked, findings, told, limit=limit, ranks=len(results))


def _judge_collectives(
    load: Load, looked: Json, findings: list[Finding], told: dict[str, float], *, limit: str, ranks: int
) -> Looked:
    """All-reduce against its limit, which holds for one number of ranks."""
    meant = load.expected.number("gpu.collective_ranks")
    if load.expected.number(limit) is not None and meant != ranks:
        looked["not_compared"] = f"the limit is for {meant} ranks, these are {ranks}"
    elif "all_reduce_gb_per_s" in told:
        one = grade(
            load.expected[limit],
            told["all_reduce_gb_per_s"],
            code="nccl.bandwidth.low",
            subject="gpus",
            what=f"all_reduce over {ranks} ranks",
        )
        findings = [*findings, one] if one else findings
    return Looked(looked=looked, findings=tuple(findings))


def _nccl_tests(load: Load, load_s: float, size_mib: int) -> Looked | None:
    """With all_reduce_perf; None: it is not installed.

    Raises:
        ProbeUnavailable: it printed no result.
    """
    count = len(load.gpus)
    argv = [
        load.tool("all_reduce_perf"),
        "-b",
        "8M",
        "-e",
        f"{size_mib}M",
        "-f",
        "4",
        "-g",
        str(count),
        "-c",
        "1",
    ]
    ran = run_if_installed(load.host, argv, timeout_s=load_s + TOOL_START_S)
    if ran is None:
        return None
    from greenroom.parsers import nccl_tests  # noqa: PLC0415 - only where the tool is

    outcome = nccl_tests.parse_output(f"{ran.stdout}\n{ran.stderr}")
    if not outcome.rows:
        said = [text for _, text in outcome.failures] or ran.stderr.strip().splitlines() or ["no result"]
        raise ProbeUnavailable(f"all_reduce_perf: exit {ran.rc}: {said[0]:.200}")
    wrong = [row for row in outcome.rows if (row.wrong or 0) > 0]
    findings = [
        found(
            "nccl.wrong",
            subject="gpus",
            message=f"{row.wrong:g} wrong numbers of all_reduce at {row.size_bytes} bytes",
            measured=f"{row.wrong:g} numbers",
            evidence=(row.text,),
        )
        for row in wrong[:1]
    ]
    if outcome.failures or (outcome.failed_bounds and not wrong):
        text = outcome.failures[0][1] if outcome.failures else "out of bounds values"
        findings.append(found("gpu.collective.failed", subject="gpus", message=f"all_reduce_perf: {text}"))
    largest = max(outcome.rows, key=lambda row: row.size_bytes)
    told = {"all_reduce_gb_per_s": largest.busbw}
    looked = {
        "comparable": f"{load.gpus[0].name}; {largest.size_bytes // MIB} MiB; {count} ranks; nccl-tests",
        "tool": "nccl-tests",
        "figures": figures((name, "all", value) for name, value in told.items()),
    }
    return _judge_collectives(load, looked, findings, told, limit="gpu.all_reduce_gb_per_s_min", ranks=count)
