"""A machine written down plays back exactly, and without identifiers if so wished."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.cli.main import main
from greenroom.lab.gpus import STATE_ENV, build_driver, write_state
from greenroom.probes.host import LocalHost, ProbeUnavailable
from greenroom.probes.recorded import RecordedHost
from greenroom.probes.recording import Anonymiser, RecordingHost, ReplayHost, Tape, load, save
from greenroom.runner.record import record
from greenroom.runner.run import Wish, run_checks


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    return build_driver(tmp_path_factory.mktemp("driver"))


def told(report):
    return [(one.check, one.outcome, one.reason, one.findings, one.looked) for one in report.results]


@pytest.mark.parametrize("faults", [[], ["ecc"], ["missing"], ["lost"], ["no-driver"]])
def test_a_recording_gives_the_same_results_as_the_machine(tmp_path, monkeypatch, driver, faults):
    write_state(tmp_path / "gpus", node="n", faults=faults)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver))
    monkeypatch.setenv(STATE_ENV, str(tmp_path / "gpus"))
    # What changes from one look to the next (a load average, the room on a disk) is no matter here.
    only = (
        "gpu_count.all_answer",
        "gpu_memory.ecc",
        "gpu_driver.version",
        "filesystem.writable",
        "network.links",
    )
    wish = Wish(node="n", expect_gpus=8, only=only)
    real = run_checks(wish, LocalHost())
    save(record(LocalHost(), profile="quick", anonymise=False), tmp_path / "tape")
    monkeypatch.delenv("LD_LIBRARY_PATH")
    again = run_checks(wish, ReplayHost(load(tmp_path / "tape")))
    assert told(again) == told(real)
    assert (again.verdict, again.identity) == (real.verdict, real.identity)
    plain = run_checks(wish, ReplayHost(record_anonymised(tmp_path)))
    assert [one.outcome for one in plain.results] == [one.outcome for one in real.results]
    assert not set(plain.identity.gpus) & set(real.identity.gpus)
    assert plain.identity.machine != real.identity.machine


def record_anonymised(tmp_path):
    return Anonymiser("vm-host").tape(load(tmp_path / "tape"))


def test_what_was_not_available_stays_so_with_its_reason_and_nothing_is_invented():
    host = RecordedHost(files={"/a": "x\n"}, commands={"tool": ProbeUnavailable("tool: not installed")})
    recorder = RecordingHost(host)
    assert recorder.read("/a") == "x\n"
    for ask in (
        lambda h: h.read("/b"),
        lambda h: h.run(["tool", "-x"], timeout_s=1),
        lambda h: h.space("/c"),
    ):
        with pytest.raises(ProbeUnavailable) as first:
            ask(recorder)
        with pytest.raises(ProbeUnavailable) as again:
            ask(ReplayHost(recorder.tape))
        assert str(first.value) == str(again.value)
    with pytest.raises(ProbeUnavailable, match="/d: not in the recording"):
        ReplayHost(recorder.tape).read("/d")
    assert ReplayHost(recorder.tape).glob("/never/asked/*") == []


def test_the_command_line_records_and_replays(tmp_path, capfd):
    assert main(["record", str(tmp_path / "r"), "--anonymise"]) == 0
    assert "files" in capfd.readouterr().out
    code = main(
        ["check", "--json", "--expect-gpus", "0", "--replay", str(tmp_path / "r"), "--only", "network.links"]
    )
    assert code in (0, 3)
    assert json.loads(capfd.readouterr().out)["results"][0]["check"] == "network.links"
    assert main(["check", "--replay", str(tmp_path / "none")]) == 64
    (tmp_path / "r" / "recording.json").write_text('{"schema": 99}')
    assert main(["check", "--replay", str(tmp_path / "r")]) == 64
    assert "schema 99, expected 1" in capfd.readouterr().err


@pytest.mark.parametrize(
    "found",
    [
        "GPU-5fd4f087-86f3-7a43-b711-4771313afc50",
        "02:fc:00:00:00:01",
        "0xe8ebd3030044aa10",
        "e8eb:d303:0044:aa10",
        "10.31.7.204",
        "Serial Number: 1322621012345",
        '"serial": "ABC123"',
    ],
)
def test_identifiers_are_replaced_by_the_same_shape_each_time(found):
    plain = Anonymiser().text(f"x {found} y {found}")
    assert found not in plain
    first, second = re.fullmatch(r"x (.+) y (.+)", plain).groups()
    assert first == second
    assert len(first) == len(found) or found.startswith("10.")


@pytest.mark.parametrize(
    "text", ["127.0.0.1", "0.0.0.0", "driver 570.124.06", "12:34:56", "0000:41:00.0", "0x10de"]
)
def test_what_identifies_nobody_stays(text):
    assert Anonymiser("node-a").text(text) == text


def test_host_names_are_replaced():
    assert Anonymiser("gpu-node-17").text("Dec 1 gpu-node-17 kernel: x") == "Dec 1 host0 kernel: x"


PLAIN = st.text(st.characters(exclude_categories=["Nd", "Cs"]), max_size=100)


@given(st.dictionaries(PLAIN, PLAIN, max_size=5))
def test_a_tape_without_identifiers_is_left_as_it_is(files):
    tape = Tape(files={f"/x/{name}": text for name, text in files.items()}, clock=1.0)
    assert Anonymiser().tape(tape) == tape


def test_a_counter_that_grew_while_we_waited_plays_back_so():
    recorder = RecordingHost(RecordedHost(files={"/a": "1", "/b": "7"}, later={"/a": "2", "/c": "3"}))
    heard = [recorder.read("/a"), recorder.read("/b")]
    recorder.wait(0.5)
    heard += [recorder.read("/a"), recorder.read("/b"), recorder.read("/c")]
    replay = ReplayHost(recorder.tape)
    again = [replay.read("/a"), replay.read("/b")]
    replay.wait(0.5)
    again += [replay.read("/a"), replay.read("/b"), replay.read("/c")]
    assert again == heard == ["1", "7", "2", "7", "3"]
