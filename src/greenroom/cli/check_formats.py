"""A report in the forms of other frames: NHC's lines, a Prometheus textfile."""

from __future__ import annotations

from pathlib import Path

from greenroom.model.results import Report
from greenroom.model.words import Outcome, Stage, Verdict


def nhc_lines(report: Report) -> tuple[int, list[str]]:
    """Exit code and lines as LBNL Node Health Check prints them: nothing and 0 if all is well.

    Undecided is a failure here: NHC has no third answer, and the gate fails closed.
    """
    if report.verdict is Verdict.FIT:
        return 0, []
    gating = [result for result in report.results if result.stage is Stage.GATE]
    said = [
        f"{result.check}: {finding.subject} {finding.message}"
        for result in gating
        if result.outcome is Outcome.FAIL
        for finding in result.findings
    ]
    said += [f"{result.check}: {result.reason}" for result in gating if result.outcome is Outcome.UNABLE]
    lines = [f"ERROR:  nhc:  Health check failed:  {' '.join(text.split())}" for text in said]
    return 1, lines or [f"ERROR:  nhc:  Health check failed:  {report.verdict}"]


def write_textfile(report: Report, path: Path) -> None:
    """Metrics for the node exporter's textfile collector, written whole (by rename)."""
    from prometheus_client import CollectorRegistry, Gauge, write_to_textfile

    registry = CollectorRegistry()
    outcome = Gauge(
        "greenroom_check_outcome", "1 for the outcome of each check.", ["check", "outcome"], registry=registry
    )
    seconds = Gauge("greenroom_check_seconds", "Time each check took.", ["check"], registry=registry)
    findings = Gauge(
        "greenroom_findings", "Findings by fault code.", ["check", "code", "severity"], registry=registry
    )
    verdict = Gauge(
        "greenroom_verdict", "1 for the verdict of the run.", ["verdict", "profile"], registry=registry
    )
    at = Gauge("greenroom_run_time_seconds", "Start of the run, Unix s.", registry=registry)
    for result in report.results:
        for one in Outcome:
            outcome.labels(result.check, one.value).set(result.outcome is one)
        seconds.labels(result.check).set(result.seconds)
        for finding in result.findings:
            findings.labels(result.check, finding.code, finding.severity.value).inc()
    for word in Verdict:
        verdict.labels(word.value, report.profile).set(report.verdict is word)
    at.set(report.started_at)
    write_to_textfile(str(path), registry)
