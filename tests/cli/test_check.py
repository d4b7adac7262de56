from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from greenroom.cli import check as check_module
from greenroom.cli.check import command, nagios_line
from greenroom.cli.checks import command as checks_command
from greenroom.cli.main import main
from greenroom.model.jsonish import from_json
from greenroom.model.results import CheckResult, Finding, Report
from greenroom.model.words import Outcome, Verdict

# What `greenroom check` must never drag onto a node's start-up path.
BANNED = {
    "rich", "sqlalchemy", "alembic", "fastapi", "starlette", "pydantic", "uvicorn", "httpx", "structlog", "anyio",
    "asyncio", "http", "ssl", "email", "sqlite3", "multiprocessing", "concurrent", "ctypes", "pynvml", "torch",
    "prometheus_client", "logging", "xml", "argparse",
}  # fmt: skip
MAX_MODULES = 182
"""Besides the checks' own, which are one a domain."""
PROGRAM = """
import sys
from greenroom.cli.main import main
code = main(["check", "--profile", "quick", "--json"])
print(*sys.modules, file=sys.stderr)
sys.exit(code)
"""


def test_start_up_rule():
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode in (0, 1, 3), ran.stderr
    modules = ran.stderr.split()
    assert "greenroom.runner.run" in modules
    assert not BANNED & {name.partition(".")[0] for name in modules}
    others = [name for name in modules if not name.startswith("greenroom.checks.")]
    assert len(others) <= MAX_MODULES


def report(verdict: Verdict, *results: CheckResult) -> Report:
    return Report(run_id="r", node="n", profile="quick", verdict=verdict, results=results, seconds=1.5)


def result(outcome: Outcome, *findings: Finding, reason: str = "") -> CheckResult:
    return CheckResult(check="a.b", outcome=outcome, findings=findings, reason=reason)


FINDING = Finding(code="gpu.lost", subject="gpu3", message="lost | really")


@pytest.mark.parametrize(
    ("made", "code", "starts"),
    [
        (report(Verdict.FIT, result(Outcome.PASS)), 0, "GREENROOM OK - fit |"),
        (
            report(Verdict.FIT, result(Outcome.PASS), result(Outcome.WARN, FINDING)),
            1,
            "GREENROOM WARNING - fit; gpu3",
        ),
        (
            report(Verdict.UNFIT, result(Outcome.FAIL, FINDING)),
            2,
            "GREENROOM CRITICAL - unfit; gpu3 lost / really |",
        ),
        (
            report(Verdict.UNDECIDED, result(Outcome.UNABLE, reason="no fio")),
            3,
            "GREENROOM UNKNOWN - undecided; a.b: no fio",
        ),
    ],
)
def test_nagios(made, code, starts):
    got, line = nagios_line(made)
    assert got == code
    assert line.startswith(starts)
    assert line.count("|") == 1
    assert "\n" not in line
    assert " time=1.5s pass=" in line


@pytest.mark.parametrize(
    ("verdict", "plain", "nagios"),
    [(Verdict.FIT, 0, 0), (Verdict.UNFIT, 1, 2), (Verdict.UNDECIDED, 3, 3)],
)
def test_exit_codes(monkeypatch, verdict, plain, nagios):
    monkeypatch.setattr(check_module, "run_checks", lambda *_, **__: report(verdict))
    assert main(["check", "--json"]) == plain
    assert main(["check", "--nagios"]) == nagios


def test_wish_is_taken_from_options_and_environment(monkeypatch, tmp_path):
    seen = []

    def run(wish, *_, **__):
        seen.append(wish)
        return report(Verdict.FIT)

    monkeypatch.setattr(check_module, "run_checks", run)
    env = {"GREENROOM_EXPECT_GPUS": "4", "SLURMD_NODENAME": "gpu-07", "GREENROOM_STATE_DIR": str(tmp_path)}
    CliRunner().invoke(command, ["--profile", "light", "--since", "12.5"], env=env)
    CliRunner().invoke(command, ["--node", "other", "--expect-gpus", "0", "--run-id", "r1"], env=env)
    assert (seen[0].node, seen[0].expect_gpus, seen[0].since, seen[0].profile) == ("gpu-07", 4, 12.5, "light")
    assert (seen[1].node, seen[1].expect_gpus, seen[1].run_id) == ("other", 0, "r1")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--only", "gpu_count.all"], "did you mean gpu_count.all_answer?"),
        (["--only", "cpu.stress", "--run-id", "r"], "--only does not go with --run-id"),
        (["--report-to", "ctl:8080"], "expected http:// or https://"),
        (["--profile", "fast"], "'fast' is not one of"),
        (["--expect-gpus", "-1"], "-1 is not in the range"),
    ],
)
def test_usage_errors(capfd, options, says):
    assert main(["check", *options]) == 64
    assert says in capfd.readouterr().err


def test_wrong_expectations_file_is_a_configuration_error(tmp_path, capfd):
    site = tmp_path / "site.toml"
    site.write_text("[gpu]\ncuont = 8\n")
    assert main(["check", "--expected", str(site)]) == 78
    said = capfd.readouterr().err
    assert f"{site}:2: gpu.cuont: no such expectation; did you mean gpu.count" in said
    assert "bug" not in said


def test_only_and_real_report(capfd):
    code = main(["check", "--json", "--only", "filesystem.writable"])
    made = from_json(Report, json.loads(capfd.readouterr().out))
    assert [r.check for r in made.results] == ["filesystem.writable"]
    assert code == {"fit": 0, "unfit": 1, "undecided": 3}[made.verdict]
    assert made.left_out["cpu.stress"] == "not asked for"


def test_a_node_judged_anew_loses_the_record_of_its_last_admission(monkeypatch, tmp_path):
    monkeypatch.setattr(check_module, "run_checks", lambda *_, **__: report(Verdict.FIT))
    record = tmp_path / "admission.json"
    record.write_text("{}")
    assert main(["check", "--json", "--state-dir", str(tmp_path)]) == 0
    assert record.exists()  # a look by hand changes nothing
    assert main(["check", "--json", "--state-dir", str(tmp_path), "--run-id", "r2"]) == 0
    assert not record.exists()


def test_an_undelivered_report_does_not_change_the_verdict(monkeypatch, tmp_path, capfd):
    monkeypatch.setattr(check_module, "run_checks", lambda *_, **__: report(Verdict.UNFIT))
    args = ["check", "--json", "--report-to", "http://127.0.0.1:9", "--deliver-for", "0", "--state-dir"]
    assert main([*args, str(tmp_path)]) == 1
    assert "report not delivered" in capfd.readouterr().err
    assert [path.name for path in (tmp_path / "spool").iterdir()] == ["r.json"]
    (tmp_path / "file").write_text("")
    assert main([*args, str(tmp_path / "file")]) == 1
    assert "could not be spooled" in capfd.readouterr().err


def test_live_table(monkeypatch):
    import io

    from rich.console import Console

    from greenroom.cli.check_table import Table
    from greenroom.probes.recorded import RecordedHost
    from greenroom.runner.run import Wish, run_checks

    out = io.StringIO()
    wish = Wish(node="n7", only=["memory.size", "filesystem.writable"])
    table = Table(wish, Console(file=out, force_terminal=True, width=100))
    run_checks(wish, RecordedHost(), progress=table)
    text = out.getvalue()
    assert "memory.size" in text
    assert "unable" in text
    assert "/proc/meminfo: No such file or directory" in text
    assert "undecided" in text


def test_checks_lists_all(tmp_path):
    from greenroom.checks.frame import load_all

    listed = json.loads(CliRunner().invoke(checks_command, ["--json"]).output)
    assert [row["name"] for row in listed] == list(load_all())
    assert "cpu.stress" in CliRunner().invoke(checks_command, []).output
    CliRunner().invoke(checks_command, ["--docs", str(tmp_path / "docs")])
    assert (tmp_path / "docs" / "cpu.stress.md").exists()
