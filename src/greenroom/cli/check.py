"""`greenroom check`: check this machine."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from greenroom.checks.frame import load_all
from greenroom.cli.check_formats import nhc_lines, write_textfile
from greenroom.cli.site_faults import faults_option
from greenroom.model.jsonish import to_json
from greenroom.model.words import Exit, Outcome, Verdict
from greenroom.probes.host import Host, LocalHost
from greenroom.runner.cursor import move_cursor, read_cursor
from greenroom.runner.profiles import PROFILES
from greenroom.runner.run import Progress, Wish, run_checks
from greenroom.runner.site import load_site

if TYPE_CHECKING:
    from greenroom.model.results import Report

EXIT = {Verdict.FIT: Exit.FIT, Verdict.UNFIT: Exit.UNFIT, Verdict.UNDECIDED: Exit.UNDECIDED}
# Nagios plugin guidelines: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN
NAGIOS = {Verdict.FIT: (0, "OK"), Verdict.UNFIT: (2, "CRITICAL"), Verdict.UNDECIDED: (3, "UNKNOWN")}
NAGIOS_WARNING = (1, "WARNING")


@click.command("check")
@click.option("--profile", type=click.Choice(list(PROFILES)), default="quick", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--nagios", "as_nagios", is_flag=True, help="One line with perfdata; exit 0, 1, 2 or 3.")
@click.option("--nhc", "as_nhc", is_flag=True, help="NHC's error lines; exit 0 or 1.")
@click.option("--textfile", type=click.Path(path_type=Path), help="Also write Prometheus metrics here.")
@click.option("--run-id", default="", envvar="GREENROOM_RUN_ID", help="The controller's run this is for.")
@click.option("--node", default="", envvar="GREENROOM_NODE", help="Name of this node; default: host name.")
@click.option("--report-to", default="", envvar="GREENROOM_REPORT_TO", help="Base URL of the controller.")
@click.option(
    "--deliver-for", type=float, default=600.0, show_default=True, help="Try to deliver so long, s."
)
@click.option("--since", type=float, help="Log events after this Unix time; default: the last admission.")
@click.option("--reset-at", type=float, default=0.0, hidden=True, help="When the GPUs were last reset.")
@click.option("--expect-gpus", type=click.IntRange(min=0), envvar="GREENROOM_EXPECT_GPUS")
@click.option("--expected", type=click.Path(path_type=Path), help="TOML file with the site's expectations.")
@click.option(
    "--site",
    type=click.Path(path_type=Path),
    envvar="GREENROOM_SITE",
    help="TOML file with the site's switches and own checks.",
)
@faults_option
@click.option(
    "--replay", type=click.Path(path_type=Path), help="Check a recording of `greenroom record` instead."
)
@click.option("--only", multiple=True, metavar="NAME", help="Just this check; may be given more than once.")
@click.option(
    "--state-dir",
    type=click.Path(path_type=Path),
    default=Path("/var/lib/greenroom"),
    envvar="GREENROOM_STATE_DIR",
    show_default=True,
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    as_json: bool,
    as_nagios: bool,
    as_nhc: bool,
    **options: Any,  # noqa: ANN401
) -> None:
    """Check this machine: 0 fit, 1 unfit, 3 undecided; with --nagios 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.

    Prints a table on a terminal and JSON otherwise. With --report-to the report is brought to the
    controller; it is spooled first and tried again until --deliver-for is over. The run's token is
    read from GREENROOM_RUN_TOKEN.
    """
    _refuse_nonsense(options)
    # So that a cancelled job ends what the checks have started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    host = _replayed(options["replay"]) if options["replay"] else LocalHost()
    seen_to = 0.0 if options["replay"] else read_cursor(options["state_dir"], host)
    wish = Wish(
        node=options["node"] or _node_name(),
        profile=options["profile"],
        run_id=options["run_id"],
        only=options["only"],
        since=max(options["since"] or 0.0, seen_to),
        reset_at=options["reset_at"],
        expect_gpus=options["expect_gpus"],
        expected_file=options["expected"],
        site_file=options["site"],
    )
    if wish.run_id:
        # Judged anew: what the prolog could go by when nobody answers is void until the node is found fit.
        (options["state_dir"] / "admission.json").unlink(missing_ok=True)
    on_terminal = sys.stdout.isatty() and not (as_json or as_nagios or as_nhc)
    report = run_checks(wish, host, progress=_table(wish) if on_terminal else None)
    if as_nagios:
        code, line = nagios_line(report)
        print(line)
    elif as_nhc:
        code, lines = nhc_lines(report)
        print(*lines, sep="\n", end="\n" if lines else "")
    else:
        code = EXIT[report.verdict]
        if not on_terminal:
            print(json.dumps(to_json(report), indent=2))
    sys.stdout.flush()
    if options["textfile"]:
        write_textfile(report, options["textfile"])
    if options["report_to"]:
        _bring_home(report, options)
    ctx.exit(code)


def nagios_line(report: Report) -> tuple[int, str]:
    """Nagios exit code and the line with perfdata."""
    outcomes = [result.outcome for result in report.results]
    counts = {outcome: outcomes.count(outcome) for outcome in Outcome}
    code, word = NAGIOS[report.verdict]
    odd = counts[Outcome.WARN] + counts[Outcome.FAIL]
    if report.verdict is Verdict.FIT and odd:
        code, word = NAGIOS_WARNING
    unable = [f"{result.check}: {result.reason}" for result in report.results if result.outcome == "unable"]
    said = [f"{finding.subject} {finding.message}" for finding in report.findings] or unable
    text = "; ".join([str(report.verdict), *said[:3]]).replace("|", "/").replace("\n", " ")
    perf = " ".join(f"{outcome}={count}" for outcome, count in counts.items())
    return code, f"GREENROOM {word} - {text} | time={report.seconds}s {perf}"


def _refuse_nonsense(options: dict[str, Any]) -> None:
    own = load_site(options["site"], load_all()).commands
    known = {*load_all(), *(check.name for check in own)}
    unknown = [name for name in options["only"] if name not in known]
    if unknown:
        import difflib

        near = difflib.get_close_matches(unknown[0], known, n=1)
        hint = f"did you mean {near[0]}?" if near else "see greenroom checks"
        raise click.UsageError(f"no check {unknown[0]!r}; {hint}")
    if options["only"] and options["run_id"]:
        raise click.UsageError("--only does not go with --run-id: a part of a run admits no node")
    if options["report_to"] and not options["report_to"].startswith(("http://", "https://")):
        raise click.UsageError(f"--report-to: expected http:// or https://, got {options['report_to']!r}")


def _replayed(folder: Path) -> Host:
    from greenroom.probes.recording import ReplayHost, load

    try:
        return ReplayHost(load(folder))
    except ValueError as error:
        raise click.UsageError(f"--replay: {error}") from error


def _node_name() -> str:
    return os.environ.get("SLURMD_NODENAME") or os.uname().nodename.split(".")[0]


def _table(wish: Wish) -> Progress:
    from greenroom.cli.check_table import Table

    return Table(wish)


def _bring_home(report: Report, options: dict[str, Any]) -> None:
    """The verdict stands whether or not the report came home; what became of it goes to stderr."""
    from greenroom.runner.deliver import deliver

    try:
        delivered = deliver(
            report,
            url=options["report_to"],
            token=os.environ.get("GREENROOM_RUN_TOKEN", ""),
            state_dir=options["state_dir"],
            deliver_for_s=options["deliver_for"],
        )
    except OSError as error:
        print(f"greenroom: the report could not be spooled: {error}", file=sys.stderr)
        return
    if (delivered.answer or {}).get("admission"):
        # What the logs told before was judged by this run. If it cannot be kept, more counts, not less.
        with contextlib.suppress(OSError):
            move_cursor(options["state_dir"], LocalHost(), at=report.started_at, why="admitted")
    if delivered.ok:
        phase = (delivered.answer or {}).get("phase", "?")
        print(f"greenroom: report delivered, the node is now {phase}", file=sys.stderr)
    else:
        print(f"greenroom: report not delivered: {delivered.detail}", file=sys.stderr)
