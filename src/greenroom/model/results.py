"""What a run of checks found: findings, results, identity, report."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from greenroom.model.words import Outcome, Rung, Severity, Stage, Verdict

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something wrong with the node: data, never an exception."""

    code: str
    """Fault code of the catalogue, e.g. ``gpu.ecc.uncorrectable``."""
    subject: str
    """The part: ``gpu3``, ``/scratch``, ``eth0``."""
    message: str
    severity: Severity = Severity.FAIL
    measured: str = ""
    expected: str = ""
    source: str = ""
    """Where the expectation comes from."""
    evidence: tuple[str, ...] = ()
    """Raw lines, at most a handful."""
    remedy: Rung | None = None
    """First remedy, where the check itself names one (checks of a site); else the catalogue's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One check's answer, stamped by the runner."""

    check: str
    outcome: Outcome
    stage: Stage = Stage.GATE
    seconds: float = 0.0
    reason: str = ""
    """Why skipped or unable; empty otherwise."""
    findings: tuple[Finding, ...] = ()
    looked: Json = field(default_factory=dict)
    """What was looked at: counts and measured values with unit-suffixed names."""
    thresholds: Json = field(default_factory=dict)
    """The expectations used, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Which machine, and which boot of it. Empty fields: the machine does not say."""

    boot_id: str = ""
    machine: str = ""
    """System or board serial (DMI), else the machine id."""
    gpus: tuple[str, ...] = ()
    """Serials or UUIDs of the GPUs that answered, sorted."""

    @property
    def hardware(self) -> str:
        """A short stable key of the machine: attempts are counted by it, not by host name.

        The GPUs are left out on purpose: a machine that has lost one is still the same machine.
        """
        return hashlib.sha256(self.machine.encode()).hexdigest()[:12] if self.machine else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A finished run, as it travels from the node to the controller."""

    run_id: str
    node: str
    profile: str
    verdict: Verdict
    results: tuple[CheckResult, ...]
    identity: Identity = field(default_factory=Identity)
    started_at: float = 0.0
    """Unix time, s."""
    seconds: float = 0.0
    version: str = ""
    """Greenroom's own version."""
    left_out: Json = field(default_factory=dict)
    """Check name -> why the planner left it out."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of the checks that gate, then of the others; severity FAIL first."""
        all_found = [
            (result.stage is not Stage.GATE, finding.severity is not Severity.FAIL, index, finding)
            for index, result in enumerate(self.results)
            for finding in result.findings
        ]
        return tuple(found for *_, found in sorted(all_found, key=lambda row: row[:3]))
