"""What the ranks of a training say together."""

from __future__ import annotations

import pytest

from greenroom.model.words import Outcome
from greenroom.runner.training import judge_training
from greenroom.workloads.answers import Answer

WELL = {
    "reached": True,
    "losses": [4.1, 3.9],
    "reference": [4.1001, 3.9001],
    "gradient_off": 1e-6,
    "weights": "aa",
    "step_ms": 12.0,
    "own_ms": 5.0,
}


def judged(**odd):
    """Four ranks; ``odd`` is what n3 says otherwise."""
    answers = [(f"n{i}", Answer(result=WELL | (odd if i == 3 else {}))) for i in range(4)]
    return judge_training(answers, slower_percent=20.0)


def test_all_alike_is_a_pass():
    assert judged().outcome is Outcome.PASS
    assert not judged().stragglers


def test_a_slow_rank_is_named_and_fails_nobody():
    told = judged(own_ms=7.0)
    assert told.outcome is Outcome.PASS
    assert [(one.node, one.rank, one.usual_ms) for one in told.stragglers] == [("n3", 3, 5.0)]
    assert not judged(own_ms=3.0).stragglers


@pytest.mark.parametrize(
    ("odd", "why", "culprits"),
    [
        ({"reached": False, "why": "Timed out"}, "no connection, as n3 says: Timed out", ()),
        ({"broke": "reset by peer"}, "the connection broke, as n3 says", ()),
        (
            {"gradient_off": 0.02},
            "gradients are not those that the processor computes: n3 (by 0.02)",
            ("n3",),
        ),
        ({"reference": [4.2, 3.9]}, "the processor of n3 computes other losses", ("n3",)),
        ({"weights": "bb"}, "other weights in the end: n3", ("n3",)),
    ],
)
def test_what_one_rank_says_fails_all_and_names_it_if_it_can(odd, why, culprits):
    told = judged(**odd)
    assert told.outcome is Outcome.FAIL
    assert why in told.why
    assert told.culprits == culprits


def test_wrong_losses_on_all_name_nobody():
    answers = [(f"n{i}", Answer(result=WELL | {"losses": [4.1, 5.0]})) for i in range(4)]
    told = judge_training(answers, slower_percent=20.0)
    assert (told.outcome, told.culprits) == (Outcome.FAIL, ())
    assert "loss 5 at step 2, expected 3.9001" in told.why


def test_a_rank_without_a_result_is_no_failure_of_the_training():
    answers = [("n0", Answer(result=WELL)), ("n1", Answer(unable="PyTorch is not there"))]
    told = judge_training(answers, slower_percent=20.0)
    assert (told.outcome, told.culprits) == (Outcome.UNABLE, ("n1",))
    assert told.why == "n1: PyTorch is not there"


def test_two_ranks_that_differ_name_nobody():
    answers = [("a", Answer(result=WELL)), ("b", Answer(result=WELL | {"weights": "bb"}))]
    told = judge_training(answers, slower_percent=20.0)
    assert (told.outcome, told.culprits) == (Outcome.FAIL, ())
