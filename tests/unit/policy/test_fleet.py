from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.policy.fleet import MIN_NODES, judge_fleet, modified_z

CHECK = "stress.gpu_compute"


def looked(speed, *, digest="aa", kind="H100", **more):
    return {
        CHECK: {
            "comparable": kind,
            "figures": {"bf16_tflops": {"gpu0": 700.0, "gpu1": speed}} | more,
            "digests": {"bf16": {"gpu0": digest, "gpu1": digest}},
        }
    }


def fleet(count, **odd):
    return {f"n{i}": looked(600.0 + i % 5) for i in range(count)} | odd


def named(nodes):
    return [(one.node, one.figure, one.part) for one in judge_fleet(nodes).outliers]


def test_the_slow_node_is_named_by_its_slowest_part_and_the_fast_one_is_not():
    judged = judge_fleet(fleet(12, slow=looked(500.0), fast=looked(690.0)))
    (one,) = judged.outliers
    assert (one.node, one.part, one.measured, one.usual, one.among) == ("slow", "gpu1", "500", "601.5", 14)
    assert one.z is not None
    assert one.z < -3.5
    assert judged.compared == {f"{CHECK}: H100": 14}


def test_where_less_is_better_the_long_one_is_slow():
    nodes = {f"n{i}": looked(600.0, launch_us={"gpu0": 4.0 + i % 3 / 10}) for i in range(12)}
    nodes["n5"] = looked(600.0, launch_us={"gpu0": 9.0})
    nodes["n6"] = looked(600.0, launch_us={"gpu0": 1.0})
    assert named(nodes) == [("n5", "launch_us", "gpu0")]


def test_nodes_measured_in_another_way_are_not_compared():
    judged = judge_fleet(fleet(12, other=looked(300.0, kind="A100"), third=looked(300.0, kind="A100")))
    assert not judged.outliers
    assert judged.not_compared == {f"{CHECK}: A100": "2 nodes alike, 10 are needed"}


def test_nine_nodes_do_not_say_who_is_slow():
    assert not named(fleet(8, slow=looked(100.0)))
    assert named(fleet(9, slow=looked(100.0)))


def test_where_all_others_are_equal_the_one_that_differs_stands_out_but_not_by_a_hair():
    same = {f"n{i}": looked(600.0) for i in range(MIN_NODES)}
    assert named(same | {"slow": looked(500.0)}) == [("slow", "bf16_tflops", "gpu1")]
    assert not named(same | {"hair": looked(599.0)})


def test_a_node_that_computes_something_else_every_time_is_named_among_three():
    assert named(fleet(2, wrong=looked(602.0, digest="bb"))) == [
        ("wrong", "bf16", "gpu0"),
        ("wrong", "bf16", "gpu1"),
    ]
    assert not named(fleet(1, wrong=looked(602.0, digest="bb")))


def test_no_majority_names_nobody():
    nodes = {f"n{i}": looked(600.0, digest="ab"[i % 2] * 2) for i in range(12)}
    assert not judge_fleet(nodes).outliers


@given(st.lists(st.floats(1, 1e6), min_size=MIN_NODES, max_size=40))
def test_no_fleet_has_a_slow_half(speeds):
    nodes = {f"n{i}": looked(speed) for i, speed in enumerate(speeds)}
    assert len({one.node for one in judge_fleet(nodes).outliers}) < len(nodes) / 2


@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=40), st.floats(0.001, 1000))
def test_the_unit_does_not_matter(speeds, scale):
    one = modified_z({str(i): speed for i, speed in enumerate(speeds)})
    other = modified_z({str(i): speed * scale for i, speed in enumerate(speeds)})
    assert list(one.values()) == pytest.approx(list(other.values()), rel=1e-3, abs=1e-3)
