"""Edges of the gate that whole stories do not reach by themselves."""

from __future__ import annotations

from greenroom.faults import load
from greenroom.model.results import Finding, Identity
from greenroom.model.words import Phase, Rung, Severity, Verdict
from greenroom.policy.diagnose import diagnose
from greenroom.policy.events import (
    CheckRequested,
    OperatorHold,
    OperatorRelease,
    OperatorRetire,
    RunFinished,
)
from greenroom.policy.rules import Rules, Step
from greenroom.schedulers import SchedulerUnavailable
from stories.cluster import Story


def test_several_new_nodes_that_are_not_born_held_are_all_held_at_once():
    story = Story()
    story.join("gpu-01")
    story.turn(5)
    story.join("gpu-02", "gpu-03", "gpu-04", drained="", ours=False)
    story.turn()
    assert story.free() == {"gpu-01"}  # they never served: the fleet limit is not about them


def test_a_hold_too_young_to_be_saved_is_written_again_even_if_its_marker_is_there():
    story = Story()
    story.join("gpu-01", faults=["gpu.missing"])
    for _ in range(60):
        story.turn(step_s=1.0)
        if story.store.load("gpu-01") and story.phase("gpu-01") is Phase.WITH_PERSON:
            break
    story.turn(2, step_s=1.0)
    held_at = story.state("gpu-01").held_at
    assert 0 < story.now - held_at < story.rules.settle_s
    story.scheduler.cluster["gpu-01"].drained = ""  # lost in a crash of the scheduler
    story.turn(step_s=1.0)
    assert story.phase("gpu-01") is Phase.WITH_PERSON
    assert story.free() == set()


def test_attempts_of_all_kinds_are_bounded():
    story = Story(ladder=(Step(rung=Rung.REBOOT, times=9),), max_attempts=2)
    story.join("gpu-01", faults=["gpu.ecc.uncorrectable"])
    story.turn(40)
    assert story.scheduler.reboots == ["gpu-01", "gpu-01"]
    assert story.phase("gpu-01") is Phase.WITH_PERSON
    assert "reboot, then reboot did not help (limit 2)" in story.state("gpu-01").reason


def test_a_persons_release_starts_the_attempts_anew():
    story = Story()
    story.join("gpu-01", faults=["gpu.missing"])
    story.turn(20)
    assert story.scheduler.reboots == ["gpu-01"]
    story.tell("gpu-01", OperatorRelease(user="ann", reason="reseated"))
    story.turn(20)
    assert story.scheduler.reboots == ["gpu-01", "gpu-01"]


def test_an_operators_hold_during_a_check_outlasts_a_fit_verdict():
    story = Story()
    story.join("gpu-01")
    story.silent.add("gpu-01")
    story.turn(4)
    run_id = story.state("gpu-01").run_id
    story.tell("gpu-01", OperatorHold(user="ann", reason="cabling"))
    story.report("gpu-01", run_id)
    story.scheduler.finish(run_id)
    story.turn(5)
    assert (story.phase("gpu-01"), story.free()) == (Phase.HELD, set())
    assert story.state("gpu-01").reason == "fit; held by ann: cabling"


def test_an_operators_hold_during_a_check_keeps_repairs_away():
    story = Story()
    story.join("gpu-01", faults=["gpu.ecc.uncorrectable"])
    story.silent.add("gpu-01")
    story.turn(4)
    run_id = story.state("gpu-01").run_id
    story.tell("gpu-01", OperatorHold(user="ann", reason="I look at it"))
    story.report("gpu-01", run_id)
    story.scheduler.finish(run_id)
    story.turn(5)
    assert story.scheduler.reboots == []
    assert story.phase("gpu-01") is Phase.HELD


def test_a_result_of_an_unknown_or_older_run_decides_nothing():
    story = Story()
    story.join("gpu-01")
    story.silent.add("gpu-01")
    story.turn(4)
    first = story.state("gpu-01").run_id
    story.scheduler.cluster["gpu-01"].boot += 500  # rebooted during its check
    story.scheduler.cluster["gpu-01"].our_jobs.clear()
    story.turn(4)
    assert story.state("gpu-01").run_id not in ("", first)
    fit = RunFinished(run_id=first, verdict=Verdict.FIT, identity=Identity(machine="m"))
    assert "too late" in story.tell("gpu-01", fit)
    assert story.phase("gpu-01") is Phase.CHECKING


def test_a_result_that_was_late_but_is_of_this_boot_is_believed():
    story = Story(undecided_tries=3)
    story.join("gpu-01")
    story.silent.add("gpu-01")
    story.turn(4)
    first = story.state("gpu-01").run_id
    story.now += 10_000  # past its deadline: it is tried again
    story.turn(4)
    second = story.state("gpu-01").run_id
    assert second not in ("", first)
    story.report("gpu-01", first)
    assert story.phase("gpu-01") is Phase.IN_SERVICE
    story.turn(2)
    assert story.scheduler.cluster["gpu-01"].our_jobs == {}  # the second run was cancelled


def test_a_launch_that_is_no_longer_wanted_is_not_carried_out():
    story = Story()
    story.join("gpu-01")
    launch = story.scheduler.launch

    def refuse(job):
        raise SchedulerUnavailable("sbatch: not now")

    story.scheduler.launch = refuse
    story.turn(4)
    assert story.store.pending()
    story.tell("gpu-01", OperatorRetire(user="ann", reason="sold"))
    story.scheduler.launch = launch
    story.turn(3)
    assert story.scheduler.launched == []
    assert story.store.pending() == []
    assert any(
        action["detail"] == "void: no longer wanted"
        for entry in story.store.timeline("gpu-01")
        for action in entry.actions
    )


def test_the_gravest_first_remedy_decides_what_a_node_is_treated_for():
    rules = Rules(faults=_catalogue())
    small = Finding(code="gpu.missing", subject="gpu1", message="gone")
    grave = Finding(code="gpu.row_remap.failure", subject="gpu2", message="remap failed")
    note = Finding(code="gpu.row_remap.failure", subject="gpu3", message="x", severity=Severity.NOTE)
    for findings in ([small, grave, note], [note, grave, small]):
        found = diagnose(findings, rules.faults)
        assert (found.code, found.first) == ("gpu.row_remap.failure", Rung.REPLACE)
    assert "gpu2" in diagnose([small, grave], rules.faults).text
    assert diagnose([note], rules.faults).first is Rung.PERSON


def _catalogue():
    from greenroom.faults import load

    return load()


def test_evidence_of_before_an_admission_counts_no_more_and_a_reset_clears_what_it_can():
    ladder = (Step(rung=Rung.RESET_GPU, times=1),)
    story = Story(ladder=ladder, offered=frozenset({Rung.RESET_GPU}), faults=load())
    story.join("gpu-01")
    story.turn(10)
    admitted = story.state("gpu-01").admitted.at
    assert (story.launches[0].since, story.launches[0].reset_at) == (0.0, 0.0)
    story.machines["gpu-01"].faults.append("gpu.xid.48")
    story.tell("gpu-01", CheckRequested(profile="full", user="ann"))
    story.turn(20)
    assert story.phase("gpu-01") is Phase.IN_SERVICE
    found, after = story.launches[-2:]
    assert (found.since, found.reset_at) == (admitted, 0.0)
    assert after.since == admitted  # the repair took the admission away, not what was handled before it
    assert admitted < after.reset_at < story.state("gpu-01").admitted.at


def test_what_a_person_has_repaired_is_not_held_against_the_node_again():
    story = Story(offered=frozenset())
    story.join("gpu-01", faults=["gpu.missing"])
    story.turn(10)
    assert story.phase("gpu-01") is Phase.WITH_PERSON
    at = story.now
    story.tell("gpu-01", OperatorRelease(user="ann", reason="reseated"))
    story.turn(3)
    assert story.launches[-1].since == at


def test_an_operators_own_hold_hides_nothing():
    story = Story()
    story.join("gpu-01")
    story.turn(10)
    admitted = story.state("gpu-01").admitted.at
    story.tell("gpu-01", OperatorHold(user="ann", reason="look"))
    story.turn(3)
    story.tell("gpu-01", OperatorRelease(user="ann", reason="done"))
    story.turn(5)
    assert story.launches[-1].since == admitted
