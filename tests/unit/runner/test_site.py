"""Switches and a site's own checks."""

from __future__ import annotations

import datetime as dt

import pytest

from greenroom.checks.frame import load_all
from greenroom.cli.main import main
from greenroom.model.words import Outcome, Rung, Severity, Stage, Verdict
from greenroom.policy.diagnose import diagnose
from greenroom.probes.host import LocalHost
from greenroom.runner.run import Wish, run_checks
from greenroom.runner.site import SiteWrong, load_site

NOON = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC).timestamp()
SWITCH = """\
[switch."filesystem.free"]
stage = "{stage}"
reason = "being cleaned"
owner = "ann"
until = 2026-12-01
"""


def site(tmp_path, text):
    path = tmp_path / "site.toml"
    path.write_text(text)
    return path


def applied(path, now=NOON):
    todo, off = load_site(path, load_all()).apply(load_all(), now)
    return {check.name: check for check in todo}, off


def test_a_check_is_lowered_until_its_day_is_over(tmp_path):
    path = site(tmp_path, SWITCH.format(stage="observe"))
    todo, off = applied(path)
    assert (todo["filesystem.free"].stage, off) == (Stage.OBSERVE, {})
    assert todo["filesystem.writable"].stage is Stage.GATE
    todo, _ = applied(path, NOON + 86_400)
    assert todo["filesystem.free"].stage is Stage.GATE


def test_a_check_switched_off_is_reported_as_disabled_with_who_and_why(tmp_path):
    path = site(tmp_path, SWITCH.format(stage="off").replace("2026-12-01", "2999-12-31"))
    wish = Wish(node="n", expect_gpus=0, site_file=path, only=("filesystem.writable", "filesystem.free"))
    report = run_checks(wish, LocalHost())
    result = next(one for one in report.results if one.check == "filesystem.free")
    assert result.outcome is Outcome.DISABLED
    assert result.reason == "off until 2999-12-31 by ann: being cleaned"
    only_disabled = run_checks(
        Wish(node="n", expect_gpus=0, site_file=path, only=("filesystem.free",)), LocalHost()
    )
    assert only_disabled.verdict is Verdict.UNDECIDED  # never a pass


def command(tmp_path, script, **keys):
    tool = tmp_path / "tool"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    lines = "\n".join(f"{key} = {value}" for key, value in {"stage": '"gate"', **keys}.items())
    path = site(tmp_path, f'[command.own]\nargv = ["{tool}", "x"]\n{lines}\n')
    report = run_checks(Wish(node="n", expect_gpus=0, site_file=path, only=("command.own",)), LocalHost())
    return next(one for one in report.results if one.check == "command.own")


@pytest.mark.parametrize(
    ("output", "script", "outcome", "text"),
    [
        ("nagios", "echo 'DISK OK | /=1GB'", Outcome.PASS, ""),
        ("nagios", "echo 'DISK WARNING - 91% | /=9GB'; exit 1", Outcome.WARN, "DISK WARNING - 91%"),
        ("nagios", "echo 'DISK CRITICAL - 99%'; exit 2", Outcome.FAIL, "DISK CRITICAL - 99%"),
        ("nagios", "echo 'UNKNOWN - no such disk'; exit 3", Outcome.UNABLE, "no such disk"),
        ("nhc", "true", Outcome.PASS, ""),
        (
            "nhc",
            "echo 'ERROR:  nhc:  Health check failed:  check_fs_mount: /x'; exit 1",
            Outcome.FAIL,
            "check_fs_mount: /x",
        ),
        ("nhc", "exit 1", Outcome.UNABLE, "without an NHC error line"),
        ("marker", "echo HEALTH_CHECK_RESULT:n1:Passed:none:ok", Outcome.PASS, ""),
        ("marker", "echo HEALTH_CHECK_RESULT:n1:Failed:replace:nvlink dead", Outcome.FAIL, "nvlink dead"),
        ("marker", "echo HEALTH_CHECK_RESULT:n1:Skipped:none:no GPU", Outcome.SKIPPED, "no GPU"),
        ("marker", "echo all is well", Outcome.UNABLE, "no HEALTH_CHECK_RESULT line"),
        ("json", """echo '{"findings": []}'""", Outcome.PASS, ""),
        ("json", """echo '{"findings": [{"message": "bad"}]}'; exit 1""", Outcome.FAIL, "bad"),
        ("json", """echo '{"findings": [{"subject": 3, "message": "bad"}]}'""", Outcome.UNABLE, "subject"),
        ("json", """echo '{"findings": [], "skipped": "n/a"}'""", Outcome.SKIPPED, "n/a"),
        ("json", "echo fine", Outcome.UNABLE, "expected JSON"),
        ("json", "exec sleep 60", Outcome.UNABLE, "not back"),
        ("json", "exec /no/such/thing", Outcome.UNABLE, "exit code 127"),
    ],
)
def test_the_output_of_others_is_read(tmp_path, output, script, outcome, text):
    result = command(tmp_path, script, output=f'"{output}"', timeout_s=0.5 if "sleep" in script else 10)
    assert result.outcome is outcome, result
    said = " ".join([result.reason, *(finding.message for finding in result.findings)])
    assert text in said


def test_a_remedy_the_check_names_goes_before_the_sites_and_the_catalogues(tmp_path):
    marker = "echo HEALTH_CHECK_RESULT:n1:Failed:replace:x"
    named = command(tmp_path, marker, output='"marker"', remedy='"reboot"')
    assert diagnose(named.findings, {}).first is Rung.REPLACE
    unnamed = command(tmp_path, "exit 2", output='"nagios"', remedy='"person"')
    assert diagnose(unnamed.findings, {}).first is Rung.PERSON
    assert unnamed.findings[0].severity is Severity.FAIL


def test_new_checks_of_a_site_start_at_observe(tmp_path):
    path = site(tmp_path, '[command.own]\nargv = ["true"]\n')
    todo, _ = applied(path)
    assert todo["command.own"].stage is Stage.OBSERVE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SWITCH.format(stage="of"), ["switch.filesystem.free.stage", "off, observe, warn", "'of'"]),
        (
            SWITCH.format(stage="off").replace("free", "fre"),
            ["switch.filesystem.fre", "did you mean filesystem.free"],
        ),
        (SWITCH.format(stage="off").replace('owner = "ann"\n', ""), ["switch.filesystem.free.owner"]),
        (SWITCH.format(stage="off").replace("2026-12-01", '"soon"'), [".until", "a date", "'soon'"]),
        (SWITCH.format(stage="off").replace("until", "untill"), [".untill", "did you mean until"]),
        ('[command.x]\nargv = "ls"\n', ["command.x.argv", "list of texts", "'ls'"]),
        ('[command.x]\nargv = ["ls"]\noutput = "xml"\n', ["command.x.output", "json, nagios, nhc, marker"]),
        ('[command.x]\nargv = ["ls"]\ntimeout_s = 0\n', ["command.x.timeout_s", "above 0"]),
        ('[command.x]\nargv = ["ls"]\nremedy = "pray"\n', ["command.x.remedy", "reboot"]),
        ('[command.x]\nargv = ["ls"]\nprofiles = ["fast"]\n', ["command.x.profiles", "quick"]),
        ("[swich.x]\n", ["swich", "did you mean switch"]),
        ("= 3", ["line 1"]),
    ],
)
def test_a_wrong_file_is_told_with_field_and_what_was_expected(tmp_path, text, words):
    path = site(tmp_path, text)
    with pytest.raises(SiteWrong) as caught:
        load_site(path, load_all())
    assert all(word in str(caught.value) for word in [str(path), *words]), caught.value


def test_a_wrong_file_is_exit_code_78_and_no_verdict(tmp_path, capfd):
    path = site(tmp_path, "[swich]\n")
    assert main(["check", "--json", "--site", str(path)]) == 78
    assert "did you mean switch" in capfd.readouterr().err


def test_nhc_and_textfile(tmp_path, capfd):
    own = '[command.own]\nargv = ["sh", "-c", "echo full; exit 2"]\noutput = "nagios"\nstage = "gate"\n'
    out = tmp_path / "node.prom"
    argv = ["check", "--nhc", "--site", str(site(tmp_path, own)), "--textfile", str(out), "--only"]
    assert main([*argv, "command.own"]) == 1
    assert capfd.readouterr().out == "ERROR:  nhc:  Health check failed:  command.own: node full\n"
    text = out.read_text()
    assert 'greenroom_check_outcome{check="command.own",outcome="fail"} 1.0' in text
    assert 'greenroom_findings{check="command.own",code="command.own",severity="fail"} 1.0' in text
    assert main([*argv, "filesystem.writable"]) == 0
    assert capfd.readouterr().out == ""
    assert 'greenroom_verdict{profile="quick",verdict="fit"} 1.0' in out.read_text()
