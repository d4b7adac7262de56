"""Pairs that are tested next, and whom the results blame: for any fabric, any dice, any faults."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.model.fabric import Trial
from greenroom.model.words import Outcome
from greenroom.runner.campaign import Wish, conclude, next_round
from greenroom.runner.culprits import confidence, judge
from greenroom.runner.pairs import Rules, cut, plan

PASS, FAIL, UNABLE = Outcome.PASS, Outcome.FAIL, Outcome.UNABLE
GENEROUS = Rules(shared_above=1.0)


def names(count):
    return tuple(f"n{index}" for index in range(count))


def play(wish, passes, *, seed=0, unable=()):
    """A whole campaign; ``passes`` says of a pair over a rail whether it passes."""
    trials, dice, number = [], Random(seed), 0
    while step := next_round(wish, trials, dice):
        stage, pairs = step
        number += 1
        assert number < 200
        busy = [node for pair in pairs for node in pair]
        assert len(busy) == len(set(busy)), "pairs of a round share no node"
        for pair in pairs:
            assert pair[0] != pair[1]
            culprits = tuple(node for node in pair if node in unable)
            outcome = UNABLE if culprits else PASS if passes(pair, stage.rail) else FAIL
            trials.append(
                Trial(
                    nodes=pair,
                    outcome=outcome,
                    round=number,
                    level=stage.level,
                    rail=stage.rail,
                    culprits=culprits,
                    why="torch is missing" if culprits else "",
                )
            )
    return trials, conclude(wish, trials)


@given(st.integers(2, 40), st.integers(0, 6), st.integers(0, 10_000))
def test_without_flakes_just_the_bad_nodes_are_named(count, bad, seed):
    nodes = names(count)
    sick = set(Random(seed).sample(nodes, min(bad, count)))
    _, found = play(Wish(nodes=nodes, rules=GENEROUS), lambda pair, _: not sick & set(pair), seed=seed)
    well = set(nodes) - sick
    if len(well) >= 3:  # two proven partners for everybody
        assert {one.name for one in found.blamed} == sick
        assert set(found.cleared) == well
        assert not found.undecided
    assert {one.name for one in found.blamed} <= sick
    assert set(found.cleared) <= well
    assert set(nodes) == {*found.cleared, *found.undecided, *(one.name for one in found.blamed)}


@given(st.integers(2, 40), st.floats(0, 1), st.integers(0, 10_000))
def test_whatever_fails_a_campaign_ends_and_tells_of_every_node(count, rate, seed):
    dice = Random(seed)
    nodes = names(count)
    trials, found = play(Wish(nodes=nodes), lambda *_: dice.random() >= rate, seed=seed)
    passed = {node for trial in trials if trial.outcome is PASS for node in trial.nodes}
    assert not passed & {one.name for one in found.blamed}, "who passed is never blamed"
    assert set(nodes) == {*found.cleared, *found.undecided, *(one.name for one in found.blamed)}
    for one in found.blamed:
        assert len(one.failed_with) >= 2
        assert 0.9 < one.confidence < 1


@given(st.integers(2, 30), st.integers(0, 1000))
def test_everybody_is_tested_also_the_odd_one(count, seed):
    trials, found = play(Wish(nodes=names(count)), lambda *_: True, seed=seed)
    assert {node for trial in trials for node in trial.nodes} == set(names(count))
    assert set(found.cleared) == set(names(count))
    assert found.rounds == (1 if count % 2 == 0 else 2)


def test_sixty_four_nodes_with_four_bad_take_three_rounds_and_a_dozen_runs_more():
    nodes = names(64)
    bad = {"n3", "n17", "n40", "n41"}
    trials, found = play(Wish(nodes=nodes), lambda pair, _: not bad & set(pair))
    assert {one.name for one in found.blamed} == bad
    assert found.rounds == 3
    assert len(trials) <= 32 + 3 * len(bad)


def test_two_nodes_that_fail_together_are_both_undecided():
    _, found = play(Wish(nodes=("a", "b")), lambda *_: False)
    assert not found.blamed
    assert set(found.undecided) == {"a", "b"}
    assert "either" in found.undecided["a"]


def test_three_nodes_are_enough_to_name_one():
    _, found = play(Wish(nodes=("a", "b", "c")), lambda pair, _: "b" not in pair)
    assert [one.name for one in found.blamed] == ["b"]


def test_when_nobody_passes_no_node_is_blamed():
    trials, found = play(Wish(nodes=names(64)), lambda *_: False)
    assert len(trials) == 32, "one round is enough to see it"
    assert not found.blamed
    assert "share" in found.shared
    assert len(found.undecided) == 64


def test_when_a_third_fail_no_node_is_blamed():
    sick = set(names(30)[:11])
    _, found = play(Wish(nodes=names(30)), lambda pair, _: not sick & set(pair))
    assert not found.blamed
    assert found.shared == "11 of 30 nodes fail: something that they share"
    assert set(found.cleared) == set(names(30)) - sick
    _, found = play(Wish(nodes=names(30), rules=GENEROUS), lambda pair, _: not sick & set(pair))
    assert {one.name for one in found.blamed} == sick


def test_a_lone_newcomer_is_tested_with_nodes_in_service():
    wish = Wish(nodes=("new",), witnesses=("old1", "old2", "old3"))
    trials, found = play(wish, lambda *_: True)
    assert len(trials) == 1
    assert found.cleared == ("new",)
    trials, found = play(wish, lambda *_: False)
    assert [one.name for one in found.blamed] == ["new"]
    assert len(trials) == 3
    assert {trial.nodes[1] for trial in trials} == {"old1", "old2", "old3"}


def test_with_one_witness_only_nobody_is_blamed():
    _, found = play(Wish(nodes=("new",), witnesses=("old",)), lambda *_: False)
    assert not found.blamed
    assert "more are needed" in found.undecided["new"]


def test_a_lone_node_without_partners_is_told_as_such():
    trials, found = play(Wish(nodes=("new",)), lambda *_: True)
    assert not trials
    assert found.undecided == {"new": "no partner was there"}


def test_who_cannot_be_tested_is_undecided_and_harms_nobody():
    _, found = play(Wish(nodes=names(8)), lambda *_: True, unable={"n2"})
    assert found.undecided == {"n2": "could not be tested: torch is missing"}
    assert len(found.cleared) == 7


def test_racks_are_tested_inside_first_and_then_across():
    racks = {node: f"r{index // 4}" for index, node in enumerate(names(12))}
    trials, found = play(Wish(nodes=names(12), racks=racks), lambda *_: True)
    inside = [trial for trial in trials if trial.level == "inside"]
    across = [trial for trial in trials if trial.level == "across"]
    assert all(racks[trial.nodes[0]] == racks[trial.nodes[1]] for trial in inside)
    assert all(racks[trial.nodes[0]] != racks[trial.nodes[1]] for trial in across)
    assert max(trial.round for trial in inside) < min(trial.round for trial in across)
    assert len(found.cleared) == 12


def test_a_rack_that_no_other_reaches_is_a_path_and_no_node():
    racks = {node: f"r{index // 4}" for index, node in enumerate(names(16))}

    def passes(pair, _):
        places = {racks[node] for node in pair}
        return len(places) == 1 or "r2" not in places

    _, found = play(Wish(nodes=names(16), racks=racks), passes)
    assert [(one.what, one.name) for one in found.blamed] == [("path", "rack r2")]
    assert set(found.cleared) == set(names(16))


def test_one_node_that_fails_across_racks_only_has_a_bad_way():
    racks = {node: f"r{index // 4}" for index, node in enumerate(names(16))}
    bad = "n5"
    _, found = play(
        Wish(nodes=names(16), racks=racks),
        lambda pair, _: bad not in pair or racks[pair[0]] == racks[pair[1]],
    )
    assert [(one.what, one.name) for one in found.blamed] == [("path", bad)]
    assert "passes inside its rack" in found.blamed[0].reason


def test_a_node_alone_in_its_rack_is_blamed_itself():
    racks = {node: f"r{index // 4}" for index, node in enumerate(names(9))}
    _, found = play(Wish(nodes=names(9), racks=racks), lambda pair, _: "n8" not in pair)
    assert [(one.what, one.name) for one in found.blamed] == [("node", "n8")]


@pytest.mark.parametrize("racks", [{}, {node: f"r{index // 4}" for index, node in enumerate(names(12))}])
def test_a_bad_node_is_bad_over_every_adapter_and_with_any_topology(racks):
    wish = Wish(nodes=names(12), racks=racks, rails=("mlx5_0", "mlx5_1"))
    _, found = play(wish, lambda pair, _: "n3" not in pair)
    assert [(one.what, one.name, one.rail) for one in found.blamed] == [("node", "n3", "")]


def test_one_adapter_of_a_node():
    wish = Wish(nodes=names(12), rails=("mlx5_0", "mlx5_1", "mlx5_2"))
    _, found = play(wish, lambda pair, rail: not ("n3" in pair and rail == "mlx5_1"))
    assert [(one.what, one.name, one.rail) for one in found.blamed] == [("adapter", "n3", "mlx5_1")]
    assert "over mlx5_0, mlx5_2 it passes" in found.blamed[0].reason
    assert "n3" not in found.cleared


def test_a_dead_rail_blames_no_node():
    wish = Wish(nodes=names(12), rails=("mlx5_0", "mlx5_1", "mlx5_2"))
    _, found = play(wish, lambda _, rail: rail != "mlx5_2")
    assert [(one.what, one.name, one.rail) for one in found.blamed] == [("rail", "", "mlx5_2")]
    assert "over mlx5_2" in found.shared


def test_more_witnesses_make_more_confidence():
    rules = Rules()
    assert confidence(0, rules) == pytest.approx(rules.bad)
    assert 0.97 < confidence(2, rules) < confidence(3, rules) < 1


def test_the_first_partner_counts_once_it_is_proven():
    trials = [
        Trial(nodes=("bad", "a"), outcome=FAIL, round=1),
        Trial(nodes=("b", "c"), outcome=PASS, round=1),
        Trial(nodes=("bad", "b"), outcome=FAIL, round=2),
        Trial(nodes=("a", "c"), outcome=PASS, round=2),
    ]
    nodes = ("bad", "a", "b", "c", "d", "e")
    assert not judge(nodes, trials).blamed, "one further partner is not enough"
    trials.append(Trial(nodes=("bad", "c"), outcome=FAIL, round=3))
    (blame,) = judge(nodes, trials).blamed
    assert blame.failed_with == ("a", "b", "c")


def test_the_same_dice_make_the_same_plan():
    assert plan(names(20), [], Random(5)) == plan(names(20), [], Random(5))
    assert plan(names(20), [], Random(5)) != plan(names(20), [], Random(6))


@given(st.integers(1, 200), st.integers(2, 20))
def test_groups_leave_nobody_over(count, size):
    groups = cut(names(count), size)
    assert sorted(node for group in groups for node in group) == sorted(names(count))
    if count >= size:
        assert all(size <= len(group) < 2 * size for group in groups)


@given(st.integers(12, 80), st.integers(3, 16), st.data())
def test_groups_are_halved_down_to_the_bad_ones(count, size, data):
    nodes = names(count)
    bad = data.draw(st.sets(st.sampled_from(nodes), max_size=count // 6))
    wish = Wish(nodes=nodes, rules=Rules(shared_above=1.0, group=size))
    trials, found = play(wish, lambda group, _: not bad & set(group), seed=data.draw(st.integers(0, 9)))
    assert {one.name for one in found.blamed} == bad
    assert set(found.cleared) == set(nodes) - bad
    assert {node for trial in trials if trial.round == 1 for node in trial.nodes} == set(nodes)


def test_good_nodes_in_groups_need_one_round_and_few_runs():
    _, found = play(Wish(nodes=names(64), rules=Rules(group=8)), lambda *_: True)
    assert (found.runs, found.rounds) == (8, 1)


def test_a_failing_group_alone_blames_nobody():
    """Each test has its own chance to fail for no reason: a group says nothing of its members."""
    _, found = play(
        Wish(nodes=names(64), rules=Rules(group=8)), lambda group, _: len(group) <= 2 or "n3" not in group
    )
    assert not found.blamed
    assert set(found.cleared) == set(names(64))


def test_groups_stay_inside_racks():
    wish = Wish(nodes=names(24), racks={f"n{i}": f"r{i % 3}" for i in range(24)}, rules=Rules(group=4))
    trials, found = play(wish, lambda *_: True)
    inside = [trial for trial in trials if trial.level == "inside"]
    assert all(len({wish.rack(node) for node in trial.nodes}) == 1 for trial in inside)
    assert set(found.cleared) == set(wish.nodes)


def test_a_group_of_one_is_an_error():
    with pytest.raises(ValueError, match="expected 2 or more"):
        cut(names(4), 1)
