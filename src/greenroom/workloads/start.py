"""Starts workloads on this machine and waits for what comes of them. No PyTorch here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from greenroom.model.results import Json
from greenroom.probes.host import Host, ProbeUnavailable
from greenroom.workloads.answers import Answer, command, read

SPARE_S = 15.0
"""A process ends itself at its deadline; the one who waits for it waits a little longer."""


def ask(host: Host, argv: Sequence[str], *, deadline_s: float) -> Answer:
    """What the process said. One that crashed, hung or is missing says why in ``unable``."""
    try:
        ran = host.run(argv, timeout_s=deadline_s + SPARE_S)
    except ProbeUnavailable as error:
        return Answer(unable=str(error))
    answer = read(ran.stdout)
    if answer.result is None and not answer.unable:
        last = (ran.stderr.strip() or ran.stdout.strip()).splitlines()[-1:]
        said = f": {last[0]:.200}" if last else ""
        return replace(answer, unable=f"ended with exit code {ran.rc} and no result{said}")
    return answer


def run_workload(
    host: Host, name: str, spec: Mapping[str, object], *, deadline_s: float, python: str = ""
) -> Json:
    """The result of one workload.

    Raises:
        ProbeUnavailable: there is none; the text names the workload and why.
    """
    words = command(name, {**spec, "deadline_s": deadline_s}, python=python)
    answer = ask(host, words, deadline_s=deadline_s)
    if answer.result is None:
        raise ProbeUnavailable(f"{name}: {answer.unable}")
    return answer.result


def run_ranks(
    host: Host, name: str, specs: Sequence[Mapping[str, object]], *, deadline_s: float, python: str = ""
) -> list[Json]:
    """The results of processes that work together, one for each spec.

    Raises:
        ProbeUnavailable: one of them has none; the text names it and why.
    """
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - the start-up rule

    with ThreadPoolExecutor(len(specs)) as pool:
        words = [command(name, {**spec, "deadline_s": deadline_s}, python=python) for spec in specs]
        answers = list(pool.map(lambda argv: ask(host, argv, deadline_s=deadline_s), words))
    silent = [f"rank {rank}: {one.unable}" for rank, one in enumerate(answers) if one.result is None]
    if silent:
        raise ProbeUnavailable(f"{name}: {silent[0]}")
    return [one.result for one in answers if one.result is not None]
