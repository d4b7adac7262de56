"""A whole run: gather facts, plan, execute each step, judge, and put it into a report."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from greenroom import __version__
from greenroom.checks.expectations import Expected, load_expected
from greenroom.checks.frame import Facts, load_all
from greenroom.model.results import CheckResult, Report
from greenroom.model.words import Outcome, Stage
from greenroom.probes.gpus import on_bus, pci_ids, read_gpus
from greenroom.probes.host import Host, ProbeUnavailable
from greenroom.probes.identity import read_identity
from greenroom.probes.nvml import GpuFacts
from greenroom.runner.execute import execute
from greenroom.runner.plan import Plan, Planned, make_plan
from greenroom.runner.profiles import PROFILES, Profile
from greenroom.runner.site import load_site
from greenroom.runner.verdict import judge

NVML_LIMIT_S = 20.0
"""Without persistence mode the first call brings every GPU up: a second or two each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What to check, as the command line or an agent says it."""

    node: str
    profile: str = "quick"
    run_id: str = ""
    only: Collection[str] = ()
    since: float = 0.0
    """Events of the logs count after this Unix time, s; 0: since the boot."""
    reset_at: float = 0.0
    """When the GPUs were last reset, Unix s: what a reset clears counts only from then on."""
    expect_gpus: int | None = None
    expected_file: Path | None = None
    site_file: Path | None = None
    """The site's switches and own checks."""


class Progress:
    """Told what goes on; a terminal draws it. This one keeps quiet."""

    def planned(self, plan: Plan) -> None:
        """Before the first check."""

    def started(self, step: Planned) -> None:
        """Before each check."""

    def finished(self, result: CheckResult) -> None:
        """After each check."""

    def closed(self) -> None:
        """At the end, also one by an error or an interrupt."""


def run_checks(wish: Wish, host: Host, *, progress: Progress | None = None) -> Report:
    """Run the checks of a profile and report.

    Raises:
        ExpectedWrong, SiteWrong: a file of the site is wrong.
        CallBug: a check of ours broke.
    """
    tell = progress or Progress()
    profile, started_at, started = PROFILES[wish.profile], host.now(), time.monotonic()
    load_expected(
        site_file=wish.expected_file, match=False
    )  # a wrong file is said before anything takes time
    todo, off = load_site(wish.site_file, load_all()).apply(load_all(), started_at)
    seen = on_bus(host)
    gpus = read_gpus(host, seen, timeout_s=NVML_LIMIT_S)
    expected = _expect(wish, gpus, host)
    facts = Facts(gpus=gpus, gpus_on_bus=seen[gpus.vendor], since=wish.since, reset_at=wish.reset_at)
    plan = make_plan(todo, profile, only=wish.only, vendor=gpus.vendor)
    tell.planned(plan)
    results = [
        CheckResult(check=name, outcome=Outcome.DISABLED, stage=Stage.OBSERVE, reason=why)
        for name, why in off.items()
    ]
    try:
        for step in plan.steps:
            tell.started(step)
            left_s = profile.limit_s - (time.monotonic() - started)
            own_facts = replace(facts, load_s=step.load_s)
            result = execute(step, facts=own_facts, host=host, expected=expected, left_s=left_s)
            tell.finished(result)
            results.append(result)
    finally:
        tell.closed()
    return Report(
        run_id=wish.run_id,
        node=wish.node,
        profile=profile.name,
        verdict=judge(results),
        results=tuple(results),
        identity=read_identity(host, gpus),
        started_at=started_at,
        seconds=round(time.monotonic() - started, 3),
        version=__version__,
        left_out=dict(plan.left_out),
    )


def longest_s(profile: Profile) -> float:
    """After so long a run of this profile is over, whatever sticks, s: for those who wait for it."""
    return NVML_LIMIT_S + profile.limit_s + 5.0


def _expect(wish: Wish, gpus: GpuFacts, host: Host) -> Expected:
    names = [gpu.name for gpu in gpus.gpus if gpu.name]
    ids = pci_ids(host, gpus.vendor)
    expected = load_expected(
        gpu_names=names, product=_product(host), pci_ids=ids, site_file=wish.expected_file
    )
    if wish.expect_gpus is not None:
        expected = expected.with_value("gpu.count", wish.expect_gpus, source="--expect-gpus")
    return expected


def _product(host: Host) -> str:
    try:
        return host.read("/sys/class/dmi/id/product_name").strip()
    except ProbeUnavailable:
        return ""
