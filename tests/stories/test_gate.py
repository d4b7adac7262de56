"""Whole lives of nodes: the real policy, gate, effects and loop on a cluster in memory."""

from __future__ import annotations

import pytest

from greenroom.model.words import Phase, Rung, Verdict
from greenroom.policy.events import (
    CheckRequested,
    OperatorAdmit,
    OperatorHold,
    OperatorRelease,
    OperatorRetire,
)
from stories.cluster import Story


def test_a_new_node_is_held_checked_and_admitted():
    story = Story()
    story.join("gpu-01")
    story.turn()
    assert story.free() == set()
    story.turn(4)
    assert story.phase("gpu-01") is Phase.IN_SERVICE
    assert story.free() == {"gpu-01"}
    assert story.state("gpu-01").admitted.by == "run"


def test_a_new_node_that_is_not_born_held_is_held_at_once():
    story = Story()
    story.join("gpu-01")
    story.turn(5)
    story.join("gpu-02", drained="", ours=False)
    story.turn()
    assert story.free() == {"gpu-01"}
    story.turn(5)
    assert story.free() == {"gpu-01", "gpu-02"}


def test_an_unfit_node_is_rebooted_replaced_and_admitted():
    story = Story()
    story.join("gpu-01", faults=["gpu.ecc.uncorrectable"])
    story.turn(20)
    assert story.scheduler.reboots == ["gpu-01"]
    assert len(story.replacer.done) == 1
    assert story.phase("gpu-01") is Phase.IN_SERVICE
    rungs = [attempt.rung for attempt in story.state("gpu-01").attempts]
    assert rungs == [Rung.REBOOT, Rung.REPLACE]
    runs = [run.verdict for run in story.store.runs("gpu-01")]
    assert runs == ["fit", "unfit", "unfit"]


def test_a_reboot_that_helps_is_enough():
    story = Story()
    story.join("gpu-01", faults=["gpu.ecc.uncorrectable"], cured_by_reboot=True)
    story.turn(15)
    assert story.phase("gpu-01") is Phase.IN_SERVICE
    assert (story.scheduler.reboots, story.replacer.done) == (["gpu-01"], [])


def test_a_gpu_gone_for_ever_ends_with_a_person_who_is_told_once():
    story = Story()
    story.join("gpu-01", faults=["gpu.missing"])
    story.turn(30)
    assert story.phase("gpu-01") is Phase.WITH_PERSON
    assert story.scheduler.reboots == ["gpu-01"]
    assert "reboot did not help" in story.state("gpu-01").reason
    assert [alert.key for alert in story.store.alerts()] == ["with_person:gpu-01"]
    story.machines["gpu-01"].faults.clear()
    story.tell("gpu-01", OperatorRelease(user="ann", reason="GPU reseated"))
    story.turn(6)
    assert story.phase("gpu-01") is Phase.IN_SERVICE
    assert story.store.alerts(open_only=True) == []


def test_a_refused_replacement_goes_to_a_person_and_is_no_attempt():
    story = Story()
    story.replacer.refuse = True
    story.join("gpu-01", faults=["gpu.ecc.uncorrectable"])
    story.turn(20)
    assert story.phase("gpu-01") is Phase.WITH_PERSON
    assert [attempt.rung for attempt in story.state("gpu-01").attempts] == [Rung.REBOOT]


def test_attempts_follow_the_machine_to_another_slot():
    story = Story()
    story.join("gpu-01", faults=["gpu.missing"])
    story.turn(20)
    bad = story.machines["gpu-01"]
    story.join("gpu-09", faults=["gpu.missing"])
    story.machines["gpu-09"] = bad  # the same box, plugged in under another name
    story.turn(20)
    assert story.phase("gpu-09") is Phase.WITH_PERSON
    assert story.scheduler.reboots == ["gpu-01"]


def test_no_result_is_neither_pass_nor_fail():
    story = Story()
    story.join("gpu-01")
    story.silent.add("gpu-01")
    story.turn(40)
    state = story.state("gpu-01")
    assert state.phase is Phase.WITH_PERSON
    assert state.verdict is None
    assert state.attempts == ()
    assert "could not tell, 2 times" in state.reason
    assert story.free() == set()


@pytest.mark.parametrize("phase", ["new", "checking", "recovering", "in_service", "with_person"])
def test_a_drain_of_somebody_else_is_left_alone_in_every_phase(phase):
    story = Story()
    faults = {"recovering": ["gpu.ecc.uncorrectable"], "with_person": ["gpu.missing"]}.get(phase, [])
    if phase == "new":
        story.join("gpu-01", drained="bob: fan noise", ours=False)
    else:
        story.join("gpu-01", faults=faults)
        for _ in range(40):
            if story.store.load("gpu-01") and story.phase("gpu-01") == phase:
                break
            story.turn()
        assert story.phase("gpu-01") == phase
        node = story.scheduler.cluster["gpu-01"]
        node.drained, node.ours = "bob: fan noise", False
    story.turn(5)
    story.boot()  # a restart changes nothing
    story.turn(30)
    node = story.scheduler.cluster["gpu-01"]
    assert (node.drained, node.ours) == ("bob: fan noise", False)
    assert story.free() == set()
    assert "bob: fan noise" in story.state("gpu-01").note


def test_a_busy_node_is_not_interrupted_by_a_check():
    story = Story(max_out=5)
    story.join("gpu-01")
    story.turn(5)
    story.scheduler.cluster["gpu-01"].jobs = ["77"]
    story.tell("gpu-01", CheckRequested(profile="full", user="ann"))
    story.turn(5)
    assert story.scheduler.cluster["gpu-01"].jobs == ["77"]
    assert story.free() == set()  # nothing new starts
    assert story.phase("gpu-01") is Phase.HELD
    story.scheduler.cluster["gpu-01"].jobs = []
    story.turn(6)
    assert story.phase("gpu-01") is Phase.IN_SERVICE
    assert story.store.runs("gpu-01")[0].profile == "full"


def test_a_check_is_skipped_after_the_stated_wait_and_the_node_serves_again():
    story = Story(max_out=5)
    story.join("gpu-01")
    story.turn(5)
    story.scheduler.cluster["gpu-01"].jobs = ["77"]
    story.tell("gpu-01", CheckRequested(profile="full", user="ann", skip_after=story.now + 60))
    story.turn(8)
    assert story.phase("gpu-01") is Phase.IN_SERVICE
    assert story.free() == {"gpu-01"}
    assert "skipped" in story.state("gpu-01").reason


def test_overlapping_requests_merge_into_the_larger():
    story = Story(max_out=5)
    story.join("gpu-01")
    story.turn(5)
    story.scheduler.cluster["gpu-01"].jobs = ["77"]
    story.tell("gpu-01", CheckRequested(profile="full", user="ann"))
    story.tell("gpu-01", CheckRequested(profile="quick", user="bob"))
    story.turn(2)
    story.scheduler.cluster["gpu-01"].jobs = []
    story.turn(8)
    assert [run.profile for run in story.store.runs("gpu-01")] == ["full", "light"]


def test_a_node_rebooting_in_service_is_checked_before_it_serves_again():
    story = Story()
    story.join("gpu-01")
    story.turn(5)
    story.scheduler.cluster["gpu-01"].boot += 500
    story.turn()
    assert story.free() == set()
    story.turn(5)
    assert story.free() == {"gpu-01"}
    assert len(story.store.runs("gpu-01")) == 2


@pytest.mark.parametrize(("policy", "left"), [("finish", ["77"]), ("requeue", [])])
def test_a_node_found_unfit_in_service_is_drained_and_its_job_ends_as_the_policy_says(policy, left):
    story = Story(on_fail_in_service=policy)
    story.join("gpu-01")
    story.turn(5)
    story.scheduler.cluster["gpu-01"].jobs = ["77"]
    story.machines["gpu-01"].faults = ["gpu.ecc.uncorrectable"]
    story.report("gpu-01")
    story.turn(2)
    node = story.scheduler.cluster["gpu-01"]
    assert story.phase("gpu-01") is Phase.RECOVERING
    assert story.free() == set()
    story.turn()
    assert node.jobs == left
    assert story.scheduler.reboots == ([] if left else ["gpu-01"])  # never under a running job
    node.jobs = []
    story.turn(12)
    assert story.phase("gpu-01") is Phase.IN_SERVICE


def test_a_bad_image_does_not_drain_the_fleet_and_raises_one_alert():
    story = Story()
    names = [f"gpu-{i:02d}" for i in range(1, 21)]
    story.join(*names)
    story.turn(6)
    assert len(story.free()) == 20
    for name in names[:12]:
        story.machines[name].faults = ["gpu.driver.version"]
        story.report(name)
    least = 20
    for _ in range(40):
        story.turn()
        least = min(least, len(story.free()))
    assert least == 18
    assert sum(state.left_at > 0 for state in story.store.states()) == 2  # per hour, too
    assert [alert.key for alert in story.store.alerts()] == ["fleet-limit"]


def test_a_whole_fleet_asked_to_be_checked_goes_in_waves():
    story = Story()
    names = [f"gpu-{i:02d}" for i in range(1, 21)]
    story.join(*names)
    story.turn(6)
    for name in names:
        story.tell(name, CheckRequested(profile="quick", user="ann"))
    least = 20
    for _ in range(120):
        story.turn()
        least = min(least, len(story.free()))
    assert least == 18
    assert all(len(story.store.runs(name)) == 2 for name in names)
    assert [alert.key for alert in story.store.alerts()] == []


def test_a_fleet_that_works_already_is_adopted_in_waves():
    story = Story()
    names = [f"gpu-{i:02d}" for i in range(1, 21)]
    story.join(*names, drained="", ours=False)
    least = 20
    for _ in range(120):
        story.turn()
        least = min(least, len(story.free()))
    assert least == 18
    assert set(story.phases().values()) == {"in_service"}


def test_operators_hold_admit_and_retire_are_obeyed():
    story = Story()
    story.join("gpu-01", "gpu-02")
    story.turn(5)
    story.tell("gpu-01", OperatorHold(user="ann", reason="cabling"))
    story.tell("gpu-02", OperatorRetire(user="ann", reason="sold"))
    story.turn(10)
    assert story.free() == set()
    assert story.phases() == {"gpu-01": "held", "gpu-02": "retired"}
    story.tell("gpu-01", OperatorAdmit(user="ann", reason="done"))
    story.turn(2)
    assert story.free() == {"gpu-01"}
    story.tell("gpu-02", OperatorRelease(user="ann", reason="bought back"))
    story.turn(6)
    assert story.free() == {"gpu-01", "gpu-02"}


def test_what_a_person_resumes_in_the_scheduler_stays_resumed():
    story = Story()
    story.join("gpu-01", faults=["gpu.missing"])
    story.turn(30)
    story.scheduler.cluster["gpu-01"].drained = ""  # the marker (ours) is still there
    story.turn(3)
    assert story.free() == {"gpu-01"}
    assert story.state("gpu-01").admitted.by == "a person, in the scheduler"


def test_a_hold_lost_by_the_scheduler_is_written_again():
    story = Story()
    story.join("gpu-01", faults=["gpu.missing"])
    story.turn(30)
    node = story.scheduler.cluster["gpu-01"]
    node.drained, node.ours = "", False  # slurmctld crashed before it saved
    story.turn(1)
    assert story.free() == set()
    assert story.phase("gpu-01") is Phase.WITH_PERSON


def test_an_admins_action_reboot_is_honoured_and_followed_by_a_check():
    story = Story()
    story.join("gpu-01")
    story.turn(5)
    node = story.scheduler.cluster["gpu-01"]
    node.drained, node.ours, node.asked = "Action:Reboot", False, Rung.REBOOT
    story.turn(10)
    assert story.scheduler.reboots == ["gpu-01"]
    assert story.phase("gpu-01") is Phase.IN_SERVICE
    assert len(story.store.runs("gpu-01")) == 2


def test_an_admins_request_that_is_not_understood_is_reported_once():
    story = Story()
    story.join("gpu-01")
    story.turn(5)
    node = story.scheduler.cluster["gpu-01"]
    node.drained, node.ours, node.asked_note = "Action:Rebot", False, "not understood: Action:Rebot"
    story.turn(10)
    assert [alert.text for alert in story.store.alerts()] == ["gpu-01: not understood: Action:Rebot"]


def test_a_scheduler_that_is_away_loses_nothing_and_releases_nothing():
    story = Story()
    story.join("gpu-01")
    story.turn(2)
    story.silent.add("gpu-01")
    story.turn(1)
    run_id = story.state("gpu-01").run_id
    assert run_id
    story.scheduler.away = "slurmctld does not answer"
    story.turn(30)
    assert story.loop.health.scheduler_away
    story.report("gpu-01", run_id)
    assert story.state("gpu-01").verdict is Verdict.FIT
    story.turn(3)
    assert story.free() == set()
    story.scheduler.away = ""
    story.scheduler.finish(run_id)
    story.turn(3)
    assert story.free() == {"gpu-01"}
    assert [(alert.key, alert.cleared_at > 0) for alert in story.store.alerts()] == [("scheduler-away", True)]


def test_power_saving_that_clears_the_drain_does_not_open_a_held_node():
    """The marker is still there, but it is another boot: nobody resumed it on purpose."""
    story = Story()
    story.join("gpu-01", faults=["gpu.missing"])
    story.turn(30)
    assert story.phase("gpu-01") is Phase.WITH_PERSON
    node = story.scheduler.cluster["gpu-01"]
    node.drained, node.boot = "", node.boot + 900
    story.turn(1)
    assert story.free() == set()
    assert story.phase("gpu-01") is Phase.WITH_PERSON


@pytest.mark.parametrize("ours", [True, False])
def test_a_node_that_does_not_come_back_from_its_reboot_goes_up_the_ladder(ours):
    story = Story()
    story.join("gpu-01", faults=["gpu.ecc.uncorrectable"])
    node = story.scheduler.cluster["gpu-01"]
    reboot = story.scheduler.reboot

    def gone(name, reason):
        reboot(name, reason)
        node.boot -= 1000.0
        node.up, node.ours = False, ours

    start = story.replacer.start

    def replace(**asked):
        node.up = True
        return start(**asked)

    story.replacer.start = replace
    story.scheduler.reboot = gone
    story.turn(8)
    assert story.phase("gpu-01") is Phase.RECOVERING
    story.now += 3600
    story.turn(2)
    state = story.state("gpu-01")
    assert (state.phase, state.rung) == (Phase.RECOVERING, Rung.REPLACE)
    assert "reboot failed: not over within its deadline" in state.reason
    story.turn(8)
    if ours:
        assert story.phase("gpu-01") is Phase.IN_SERVICE
    else:  # somebody else holds it meanwhile: left alone
        assert story.replacer.done == []
