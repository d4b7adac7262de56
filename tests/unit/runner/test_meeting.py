"""What the ranks say together; what a process says, as its parent reads it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.model.words import Outcome
from greenroom.runner.fabric import WAYS
from greenroom.runner.meeting import Limits, judge_meeting
from greenroom.workloads.answers import Answer, command, read
from greenroom.workloads.busbw import busbw_gb_per_s
from greenroom.workloads.process import take

ROW = {
    "operation": "all_reduce",
    "bytes": 1 << 20,
    "busbw_median_gb_per_s": 2.0,
    "stalled_s": 0.0,
    "wrong": 0,
}


def rank(**result):
    return Answer(started=True, result={"reached": True, "rows": [ROW], "retransmits": 0} | result)


def met(one, other, **limits):
    return judge_meeting({"a": one, "b": other}, Limits(**limits))


def test_both_well_is_a_pass_with_the_slower_rank_s_figure():
    told = met(rank(), rank(rows=[ROW | {"busbw_median_gb_per_s": 1.5}]), busbw_gb_per_s=1.4)
    assert told.outcome is Outcome.PASS
    assert told.measured["busbw_gb_per_s"] == 1.5


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ({"reached": False, "why": "Timed out"}, "no connection, as b says: Timed out"),
        ({"rows": [ROW | {"wrong": 3, "first_wrong": "element 7"}]}, "wrong data on b: 3 numbers"),
        ({"broke": "Connection closed by peer"}, "the connection broke"),
        ({"link_changes": {"eth0": 2}}, "went down or up"),
        ({"rows": [ROW | {"stalled_s": 1.2}]}, "stood still for 1.2 s"),
        ({"retransmits": 60}, "60 segments again"),
        ({"rows": [ROW | {"busbw_median_gb_per_s": 0.2}]}, "0.2 GB/s, expected 1"),
    ],
)
def test_what_one_rank_sees_fails_the_pair(result, why):
    told = met(rank(), rank(**result), busbw_gb_per_s=1.0, retransmits=50)
    assert told.outcome is Outcome.FAIL
    assert why in told.why


def test_a_rank_without_a_result_is_the_culprit_of_a_test_that_could_not_be_made():
    told = met(Answer(unable="PyTorch is not there"), rank(reached=False, why="Timed out"))
    assert (told.outcome, told.culprits) == (Outcome.UNABLE, ("a",))
    assert "PyTorch is not there" in told.why


def test_small_messages_are_not_judged_by_bandwidth():
    small = ROW | {"bytes": 8, "busbw_median_gb_per_s": 0.001}
    assert met(rank(rows=[small, ROW]), rank(), busbw_gb_per_s=1.0).outcome is Outcome.PASS


def test_the_answer_is_found_among_other_lines():
    lines = [
        "[W] a library's warning",
        json.dumps({"event": "hello", "device": "cpu"}, separators=(",", ":")),
    ]
    assert read("\n".join(lines)) == Answer(started=True, hello={"device": "cpu"})
    lines.append('{"event":"result","reached":true}')
    assert read("\n".join(lines)).result == {"reached": True}
    lines.append('{"event":"unable","reason":"did not end"}')
    assert read("\n".join(lines)).result is None


@given(st.text())
def test_no_output_makes_the_reader_raise(text):
    assert read(text).result is None
    read('{"event":' + text)


def test_ssh_gets_one_quoted_word_and_the_others_get_words():
    words = command("collective", {"a b": "c'd"}, python="/usr/bin/python3")
    assert WAYS["netns"].argv("n1", words)[:4] == ["ip", "netns", "exec", "n1"]
    quoted = WAYS["ssh"].argv("n1", words)
    assert quoted[-2] == "n1"
    assert "c'\"'\"'d" in quoted[-1]


def test_bus_bandwidth_is_that_of_nccl_tests():
    assert busbw_gb_per_s("all_reduce", 10**9, 1.0, 8) == pytest.approx(1.75)
    assert busbw_gb_per_s("all_gather", 10**9, 0.5, 4) == pytest.approx(1.5)
    with pytest.raises(ValueError, match="one rank"):
        busbw_gb_per_s("all_reduce", 1, 1.0, 1)


def test_a_spec_with_an_unknown_or_wrong_field_is_named():
    assert take({"seconds": 3}, {"seconds": 1.0, "name": ""}) == {"seconds": 3, "name": ""}
    with pytest.raises(ValueError, match="secnods: unknown; expected one of name, seconds"):
        take({"secnods": 3}, {"seconds": 1.0, "name": ""})
    with pytest.raises(ValueError, match="name: expected str, got 3"):
        take({"name": 3}, {"seconds": 1.0, "name": ""})
