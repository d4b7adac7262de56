from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.model.words import Rung, Standing
from greenroom.parsers import slurm_json, slurm_text
from greenroom.parsers.slurm_nodes import (
    BORN_HELD,
    MAX_REASON_CHARS,
    Reading,
    SlurmJob,
    SlurmNode,
    SlurmReservation,
    SlurmUnreadable,
    gpus_of,
    reason_text,
)

RECORDINGS = Path(__file__).parent / "recordings" / "slurm"
VERSIONS = ["22.05.8", "24.11.5", "26.05.5"]


def recorded(version):
    place = RECORDINGS / version
    if (place / "nodes.json").exists():
        nodes = slurm_json.parse_nodes((place / "nodes.json").read_text())
    else:
        nodes = slurm_text.parse_nodes((place / "nodes.txt").read_text())
    reservations = slurm_text.parse_reservations((place / "reservations.txt").read_text())
    jobs = slurm_text.parse_jobs((place / "jobs.txt").read_text())
    return Reading(
        nodes={node.name: node for node in nodes},
        reservations={one.name: one for one in reservations},
        jobs=jobs,
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_recording_of_each_version(version):
    reading = recorded(version)
    views = {view.name: view for view in reading.views({})}
    # 24.11 and later were recorded in the second after the drain, when the node is being pinged
    drained = Standing.HELD if version == "22.05.8" else Standing.UNAVAILABLE
    assert {name: view.standing for name, view in views.items()} == {
        "gpu001": Standing.FREE,
        "gpu002": drained,
        "gpu003": Standing.QUARANTINED,
        "gpu004": Standing.FOREIGN,
        "gpu005": Standing.HELD,
        "gpu006": Standing.UNAVAILABLE,
    }
    assert (views["gpu001"].jobs, views["gpu001"].our_jobs) == (("1",), ())
    assert (views["gpu003"].jobs, views["gpu003"].our_jobs) == ((), ("2",))
    assert {view.gpus for view in views.values()} == {8}
    assert views["gpu001"].groups == ("main",)
    assert 1796129270 < views["gpu001"].boot < 1796129280
    assert views["gpu006"].boot == 0
    assert not any(view.marked for view in views.values())
    admin = reading.nodes["gpu004"]
    assert admin.reason == " action : Reboot Extra=greenroom:x [a@b] "
    assert (admin.reason_by, admin.extra, admin.marker) == ("root", "", "")
    assert views["gpu004"].asked is None
    assert "is not understood" in views["gpu004"].asked_note
    assert reading.nodes["gpu002"].reason == "greenroom: held for checks [gpu002-1]"
    assert reading.nodes["gpu002"].marker == "gpu002-1"
    assert reading.nodes["gpu002"].reason_at > 1796131600
    assert reading.nodes["gpu005"].reason == BORN_HELD


@pytest.mark.parametrize("version", VERSIONS)
def test_version_and_config_of_each_version(version):
    place = RECORDINGS / version
    found = slurm_text.parse_version((place / "version.txt").read_text())
    assert ".".join(f"{part:02d}" if i == 1 else str(part) for i, part in enumerate(found)) == version
    config = slurm_text.parse_config((place / "config.txt").read_text())
    assert config["ReturnToService"] == "1"
    assert config["SchedulerParameters"].startswith("sched_interval=2,")
    assert config.get("Prolog", "") == ""


def node(*flags, **fields):
    return SlurmNode(name="n1", flags=frozenset(flags), **fields)


def look(one, *, owned="", reservations=(), jobs=()):
    reading = Reading(
        nodes={one.name: one}, reservations={each.name: each for each in reservations}, jobs=list(jobs)
    )
    (view,) = reading.views({one.name: owned} if owned else {})
    assert view == reading.view(one.name, owned=owned)
    return view


OURS = SlurmReservation(name="greenroom-n1", nodes=("n1",), flags=frozenset({"MAINT", "IGNORE_JOBS"}))
THEIRS = SlurmReservation(name="upgrade", nodes=("n0", "n1"), flags=frozenset({"MAINT"}))
HELD = {"reason": "greenroom: checks [n1-3]", "extra": "greenroom:n1-3"}


@pytest.mark.parametrize(
    ("one", "standing"),
    [
        (node("IDLE"), Standing.FREE),
        (node("MIXED", "PLANNED", "CLOUD", "SOMETHING_NEW"), Standing.FREE),
        (node("IDLE", "DRAIN", **HELD), Standing.HELD),
        (
            node("IDLE", "DRAIN", reason=f"{HELD['reason']} : reboot issued", extra=HELD["extra"]),
            Standing.HELD,
        ),
        (node("IDLE", "DRAIN", reason="disk", extra=HELD["extra"]), Standing.FOREIGN),
        (node("IDLE", "DRAIN", reason=HELD["reason"]), Standing.FOREIGN),
        (node("IDLE", "DRAIN", reason="disk"), Standing.FOREIGN),
        (node("IDLE", "DRAIN", reason=""), Standing.HELD),
        (node("IDLE", "DRAIN", reason=BORN_HELD), Standing.HELD),
        (node("IDLE", "DRAIN", reason="Prolog error"), Standing.FOREIGN),
        (node("IDLE", "DRAIN", reason="Prolog error", extra=HELD["extra"]), Standing.HELD),
        (node("IDLE", "DRAIN", reason="Kill task failed", extra=HELD["extra"]), Standing.FOREIGN),
        (node("IDLE", "FAIL", reason="x"), Standing.FOREIGN),
        (node("DOWN", reason="Node unexpectedly rebooted"), Standing.HELD),
        (node("DOWN", "NOT_RESPONDING", reason="Node unexpectedly rebooted"), Standing.UNAVAILABLE),
        (node("DOWN", reason="Not responding"), Standing.UNAVAILABLE),
        (node("DOWN", "DRAIN", **HELD), Standing.HELD),
        (node("DOWN", "DRAIN", reason="disk"), Standing.UNAVAILABLE),
        (node("DOWN"), Standing.UNAVAILABLE),
        (node("IDLE", "DRAIN", "REBOOT_REQUESTED", **HELD), Standing.UNAVAILABLE),
        (node("DOWN", "DRAIN", "REBOOT_ISSUED", **HELD), Standing.UNAVAILABLE),
        (node("IDLE", "CLOUD", "POWERED_DOWN"), Standing.UNAVAILABLE),
        (node("IDLE", "POWERING_UP"), Standing.UNAVAILABLE),
        (node("IDLE", "POWER_DRAIN"), Standing.UNAVAILABLE),
        (node("FUTURE"), Standing.UNAVAILABLE),
        (node("UNKNOWN", "DRAIN", reason=BORN_HELD), Standing.UNAVAILABLE),
        (node("UNKNOWN", "DRAIN", "INVALID_REG", reason="gres/gpu count too low"), Standing.UNAVAILABLE),
    ],
)
def test_standing_by_flags_and_reason(one, standing):
    view = look(one)
    assert view.standing is standing
    if standing in (Standing.UNAVAILABLE, Standing.FOREIGN):
        assert view.note


def test_the_store_knows_a_hold_whose_marker_is_lost():
    assert look(node("IDLE", "DRAIN", reason=HELD["reason"]), owned="n1-3").standing is Standing.HELD
    assert look(node("IDLE", "DRAIN", reason="disk"), owned="n1-3").standing is Standing.FOREIGN
    assert look(node("IDLE", "DRAIN", reason="Prolog error"), owned="n1-3").standing is Standing.HELD


def test_a_reboot_that_timed_out_is_held_only_once_slurmd_is_back():
    lost = node(
        "DOWN",
        "DRAIN",
        reason=f"{HELD['reason']} : reboot issued : reboot timed out",
        extra=HELD["extra"],
        reason_at=100.0,
        started=50.0,
    )
    assert look(lost).standing is Standing.UNAVAILABLE
    assert look(replace(lost, started=150.0)).standing is Standing.HELD


def test_reservations():
    assert look(node("IDLE"), reservations=[OURS]).standing is Standing.QUARANTINED
    assert look(node("IDLE"), reservations=[replace(OURS, active=False)]).standing is Standing.FREE
    assert look(node("IDLE", "DRAIN", **HELD), reservations=[OURS]).standing is Standing.HELD
    assert look(node("IDLE", "DRAIN", reason="disk"), reservations=[OURS]).standing is Standing.FOREIGN
    assert look(node("IDLE"), reservations=[OURS, THEIRS]).standing is Standing.FOREIGN
    assert "MAINT reservation upgrade" in look(node("IDLE"), reservations=[THEIRS]).note
    assert look(node("IDLE"), reservations=[replace(THEIRS, active=False)]).standing is Standing.FREE
    assert look(node("IDLE"), reservations=[replace(THEIRS, flags=frozenset())]).standing is Standing.FREE


def test_marker_on_a_node_at_work_means_a_person_resumed_it():
    assert look(node("IDLE", extra="greenroom:n1-3")).marked
    assert not look(node("IDLE", extra="greenroom:n1-3"), reservations=[OURS]).marked
    assert not look(node("IDLE", extra='{"rack": "greenroom:1"}')).marked


def test_jobs_of_others_and_ours():
    jobs = [
        SlurmJob(id="7", state="RUNNING", user="ann", nodes=("n0", "n1")),
        SlurmJob(id="8", state="COMPLETING", user="root", nodes=("n1",), reservation="greenroom-n1"),
        SlurmJob(id="9", state="RUNNING", user="ann", nodes=("n2",)),
    ]
    view = look(node("MIXED"), jobs=jobs)
    assert (view.jobs, view.our_jobs) == (("7",), ("8",))


@pytest.mark.parametrize(
    ("reason", "rung", "note"),
    [
        ("Action:Reboot", Rung.REBOOT, ""),
        (" action : reboot ", Rung.REBOOT, ""),
        ("ACTION:REPLACE", Rung.REPLACE, ""),
        ("Action:Reboot : reboot issued", Rung.REBOOT, ""),
        ("Action:Explode", None, "Action:Explode"),
        ("Action:", None, "expected Action:Reboot or Action:Replace"),
        ("Action:Reboot tomorrow", None, "tomorrow"),
        ("no Action:Reboot", None, ""),
    ],
)
def test_what_an_admin_asks_for(reason, rung, note):
    view = look(node("IDLE", "DRAIN", reason=reason))
    assert view.standing is Standing.FOREIGN
    assert view.asked is rung
    assert note in view.asked_note
    assert bool(view.asked_note) == bool(note)
    assert look(node("IDLE", reason=reason)).asked is None


@pytest.mark.parametrize(
    ("gres", "gpus"),
    [
        ("", 0),
        ("gpu:8", 8),
        ("gpu", 1),
        ("gpu:h100:8(S:0-1)", 8),
        ("gpu:a100:4(S:0,1),gpu:v100:2,nvme:3", 6),
        ("shard:64", 0),
    ],
)
def test_gpus(gres, gpus):
    assert gpus_of(gres) == gpus


def test_text_with_marks_instead_of_flags():
    (one,) = slurm_text.parse_nodes("NodeName=n1 State=DOWN*+DRAIN Reason=x [ann@2026-01-02T03:04:05]\n")
    assert one.flags == {"DOWN", "NOT_RESPONDING", "DRAIN"}
    assert (one.reason, one.reason_by, one.reason_at) == ("x", "ann", 1767323045.0)


@pytest.mark.parametrize(
    ("parse", "text", "why"),
    [
        (slurm_json.parse_nodes, "", "expected JSON"),
        (slurm_json.parse_nodes, "slurm_load: error", "expected JSON"),
        (slurm_json.parse_nodes, "[]", "expected a JSON object"),
        (slurm_json.parse_nodes, '{"nodes": [], "errors": []}', "no nodes"),
        (slurm_json.parse_nodes, '{"nodes": [{"name": "a"}], "errors": [{"error": "x"}]}', "reports errors"),
        (slurm_json.parse_nodes, '{"nodes": [{"name": "a"}]}', "expected a list 'state'"),
        (slurm_json.parse_nodes, '{"nodes": [7]}', "expected a node"),
        (slurm_text.parse_nodes, "\n", "no nodes"),
        (slurm_text.parse_nodes, "Unable to contact\n", "expected NodeName"),
        (slurm_text.parse_reservations, "Unable to contact\n", "expected ReservationName"),
        (slurm_text.parse_jobs, "slurm_load_jobs error\n", "expected job"),
        (slurm_text.parse_jobs, "1|RUNNING|u|n[1-|(null)\n", "host list"),
        (slurm_text.parse_version, "bash: not found", "expected a version"),
    ],
)
def test_what_is_unreadable_says_what_was_expected(parse, text, why):
    with pytest.raises(SlurmUnreadable, match=why):
        parse(text)


def test_json_of_the_time_before_lists_of_states():
    text = json.dumps({"nodes": [{"name": "a", "state": "idle", "state_flags": ["DRAIN"], "boot_time": 5}]})
    (one,) = slurm_json.parse_nodes(text)
    assert one.flags == {"IDLE", "DRAIN"}
    assert one.boot == 5.0


@given(st.text(max_size=400), st.from_regex(r"[a-z0-9-]{1,60}", fullmatch=True))
def test_a_reason_is_one_safe_line_with_its_hold_id(text, hold_id):
    reason = reason_text(text, hold_id)
    assert reason.isprintable()
    assert not set(reason) & set("\"'\\`")
    assert len(reason) <= MAX_REASON_CHARS
    assert reason.startswith("greenroom:")
    assert reason.endswith(f" [{hold_id}]")
    assert look(node("IDLE", "DRAIN", reason=reason), owned=hold_id).standing is Standing.HELD
