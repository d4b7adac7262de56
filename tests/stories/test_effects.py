"""Actions are carried out once each, whatever fails in between."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from greenroom.controller.effects import Effects
from greenroom.model.words import Phase, Rung
from greenroom.policy.events import RepairEnded
from greenroom.policy.rules import Step
from greenroom.recovery import Progress, ProviderUnavailable, RepairState
from stories.cluster import Story


class Moody:
    """A provider that is asked again and again: answers from a list, then done."""

    def __init__(self, *answers):
        self.answers, self.calls = list(answers), []

    def offers(self):
        return frozenset({Rung.REPLACE})

    def _answer(self, what, action_id):
        self.calls.append((what, action_id))
        answer = self.answers.pop(0) if self.answers else RepairState(progress=Progress.DONE)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def start(self, *, action_id, node, rung, reason):
        return self._answer("start", action_id)

    def poll(self, *, action_id, node, rung):
        return self._answer("poll", action_id)


def sick(provider):
    story = Story()
    story.replacer = provider
    story.boot()
    story.join("gpu-01", faults=["gpu.row_remap.failure"])
    story.reload(ladder=(Step(rung=Rung.REPLACE),))
    return story


def test_a_provider_that_does_not_answer_is_asked_again_under_the_same_id():
    running = RepairState(progress=Progress.RUNNING, detail="spare on its way")
    moody = Moody(ProviderUnavailable("timeout"), running, ProviderUnavailable("timeout"), running)
    story = sick(moody)
    story.turn(9)
    kinds = [what for what, _ in moody.calls]
    assert kinds == ["start", "start", "poll", "poll", "poll"]
    assert len({action_id for _, action_id in moody.calls}) == 1


def test_a_failed_repair_is_not_tried_again_and_ends_with_a_person():
    moody = Moody(RepairState(progress=Progress.FAILED, detail="no spare fits"))
    story = sick(moody)
    story.turn(12)
    assert len(moody.calls) == 1
    assert story.phase("gpu-01") is Phase.WITH_PERSON
    assert "no spare fits" in story.state("gpu-01").reason
    assert story.store.pending() == []


def test_a_repair_past_its_deadline_has_failed_and_its_late_end_changes_nothing():
    forever = [RepairState(progress=Progress.RUNNING)] * 1000
    story = sick(Moody(*forever))
    story.turn(8)
    action_id = story.state("gpu-01").repair.action_id
    story.now += 10_000
    story.turn(2)
    assert story.phase("gpu-01") is Phase.WITH_PERSON
    assert "not over within its deadline" in story.state("gpu-01").reason
    story.gate.submit("gpu-01", RepairEnded(action_id=action_id, ok=True))
    story.turn(2)
    assert story.phase("gpu-01") is Phase.WITH_PERSON
    assert story.store.pending() == []


@pytest.mark.parametrize("away", range(1, 12))
def test_a_scheduler_that_fails_at_any_cycle_delays_but_doubles_nothing(away):
    story = Story()
    story.join("gpu-01", faults=["gpu.ecc.uncorrectable"], cured_by_reboot=True)
    for cycle in range(24):
        story.scheduler.away = "gone" if cycle == away else ""
        story.turn()
    assert story.phase("gpu-01") is Phase.IN_SERVICE
    assert story.scheduler.reboots == ["gpu-01"]
    assert len({job.run_id for job in story.scheduler.launched}) == len(story.scheduler.launched)


def test_a_slow_provider_holds_up_nothing_else():
    import threading

    release = threading.Event()

    class Slow(Moody):
        def start(self, *, action_id, node, rung, reason):
            release.wait(20)
            return super()._answer("start", action_id)

    story = sick(Slow())
    with ThreadPoolExecutor(1) as pool:
        effects = story.loop._effects
        story.loop._effects = Effects(story.gate, effects.tools, lambda: story.now, pool)
        story.turn(6)
        story.join("gpu-02")
        story.turn(6)
        assert story.phase("gpu-02") is Phase.IN_SERVICE
        assert story.phase("gpu-01") is Phase.RECOVERING
        release.set()
    story.turn(1)
    assert story.state("gpu-01").reason == "after replace"


def test_a_pass_has_a_budget_so_that_holds_do_not_wait_behind_a_thousand_launches():
    story = Story()
    story.join(*[f"gpu-{index:02d}" for index in range(12)])
    launch = story.scheduler.launch

    def slow(job):
        story.now += 2.0
        return launch(job)

    story.scheduler.launch = slow
    story.turn(3)
    assert len(story.scheduler.launched) == 3
    story.join("gpu-99", drained="", ours=False)
    story.turn(1)
    assert "gpu-99" not in story.free()
    story.turn(8)
    assert len(story.free()) == 13
