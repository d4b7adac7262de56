"""What a check is: a function with metadata, what it may return, and how all of them are found."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from types import MappingProxyType

from greenroom import checks
from greenroom.checks.expectations import Expected, Threshold
from greenroom.faults import lookup
from greenroom.model.results import Finding, Json
from greenroom.model.words import Severity, Stage
from greenroom.probes.host import Host
from greenroom.probes.nvml import GpuFacts

ALL_PROFILES = ("quick", "light", "full", "burn-in")
WITH_LOAD = ("light", "full", "burn-in")
MAX_EVIDENCE = 5
OF_GPUS = frozenset({"gpu.must_report"})
"""What every check of GPUs expects: a reading that the model has may not be "not supported"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known before the first check, handed to each."""

    gpus: GpuFacts
    gpus_on_bus: int = 0
    """GPUs that the PCI bus shows, whether or not a driver answers for them."""
    since: float = 0.0
    """Only events after this Unix time count, s; 0: all since the boot."""
    reset_at: float = 0.0
    """When the GPUs were last reset, Unix s; 0: not since ``since``."""
    load_s: float = 0.0
    """How long this check may put load on the machine, s; 0: it puts none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """A check that could look: at what, and what is wrong."""

    looked: Json
    """Counts and measured values, units in the names. Empty: it looked at nothing, which is no pass."""
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """There is nothing here to look at, or nothing is expected of it: skipped, for this reason."""

    reason: str
    looked: Json = field(default_factory=dict)
    """What was seen all the same: `expect learn` and `drift` go by it."""


Answer = Looked | NotApplicable
Function = Callable[[Facts, Host, Expected], Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check as declared."""

    name: str
    """``domain.question``."""
    function: Function
    about: str
    """First paragraph of the function's docstring."""
    needs: frozenset[str]
    """Tools and interfaces without which it cannot look."""
    cost_s: float
    """Time it takes without load, s, on a healthy machine."""
    load_share: float
    """Part of the profile's budget that it spends on load, 0 to 1."""
    detects: frozenset[str]
    """Fault codes it can find."""
    expects: frozenset[str]
    """Names of the thresholds it asks for."""
    stage: Stage
    vendors: frozenset[str]
    """GPU vendors it is about; empty: any machine."""
    profiles: tuple[str, ...] = field(default=ALL_PROFILES)


_declared: dict[str, Check] = {}


def check(  # noqa: PLR0913 - one keyword a fact, as the docs page shows them
    name: str,
    *,
    detects: set[str],
    cost_s: float,
    needs: set[str] | None = None,
    expects: set[str] | None = None,
    load_share: float = 0.0,
    stage: Stage = Stage.GATE,
    vendors: set[str] | None = None,
    profiles: tuple[str, ...] = ALL_PROFILES,
) -> Callable[[Function], Function]:
    """Declare the function below as the check ``name``."""

    def declare(function: Function) -> Function:
        assert name not in _declared or _declared[name].function.__module__ == function.__module__, name
        _declared[name] = Check(
            name=name,
            function=function,
            about=" ".join((function.__doc__ or "").split("\n\n")[0].split()),
            needs=frozenset(needs or ()),
            cost_s=cost_s,
            load_share=load_share,
            detects=frozenset(detects),
            expects=frozenset(expects or ()) | (OF_GPUS if vendors else frozenset()),
            stage=stage,
            vendors=frozenset(vendors or ()),
            profiles=profiles,
        )
        return function

    return declare


@cache
def load_all() -> Mapping[str, Check]:
    """All checks by name: every module of the package is imported."""
    for module in pkgutil.iter_modules(checks.__path__):
        import_module(f"{checks.__name__}.{module.name}")
    return MappingProxyType(dict(sorted(_declared.items())))


def found(
    code: str,
    *,
    subject: str,
    message: str,
    measured: str = "",
    threshold: Threshold | None = None,
    evidence: tuple[str, ...] = (),
) -> Finding:
    """A finding; how much it weighs is in the catalogue, what was expected and why in the threshold."""
    return Finding(
        code=code,
        subject=subject,
        message=message,
        severity=lookup(code).severity,
        measured=measured,
        expected=threshold.text if threshold else "",
        source=threshold.source if threshold else lookup(code).source,
        evidence=evidence[:MAX_EVIDENCE],
    )


def is_grave(finding: Finding) -> bool:
    """Whether it alone makes a check fail."""
    return finding.severity is Severity.FAIL
