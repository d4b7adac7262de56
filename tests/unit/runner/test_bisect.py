"""The smallest failing set is found, whoever fails with whom, and the innocent are not blamed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.model.words import Outcome
from greenroom.runner.bisect import Bisection, Undecided


def names(count):
    return tuple(f"n{index}" for index in range(count))


def drive(search, fails, *, most=2000):
    """Runs it takes; ``fails(nodes)`` is the truth."""
    runs = 0
    asking = search.ask()
    try:
        sets = next(asking)
        while True:
            busy = [node for nodes in sets for node in nodes]
            assert sets
            assert len(busy) == len(set(busy)), "sets that run at once share no node"
            runs += len(sets)
            assert runs <= most
            ends = [Outcome.FAIL if fails(frozenset(nodes)) else Outcome.PASS for nodes in sets]
            sets = asking.send(ends)
    except StopIteration:
        return runs


def blamed(search):
    return {frozenset(one.nodes) for one in search.found if one.kind != "shared"}


@given(st.integers(3, 64), st.data())
def test_bad_nodes_are_each_found(count, data):
    nodes = names(count)
    bad = data.draw(st.sets(st.sampled_from(nodes), max_size=min(4, count - 2)))
    search = Bisection(nodes)
    drive(search, lambda run: bool(run & bad))
    assert blamed(search) == {frozenset([one]) for one in bad}
    assert set(search.left) == set(nodes) - bad


@given(st.integers(5, 64), st.data())
def test_a_command_that_needs_company_does_not_blame_the_lonely(count, data):
    nodes = names(count)
    bad = data.draw(st.sets(st.sampled_from(nodes), max_size=1))
    need = data.draw(st.integers(2, 3))
    search = Bisection(nodes)  # nobody told it that fewer never work
    drive(search, lambda run: len(run) < need or bool(run & bad))
    assert blamed(search) == {frozenset([one]) for one in bad}


@given(st.integers(4, 40), st.data())
def test_two_that_fail_only_together_are_named_together(count, data):
    nodes = names(count)
    pair = frozenset(data.draw(st.lists(st.sampled_from(nodes), min_size=2, max_size=2, unique=True)))
    search = Bisection(nodes)
    drive(search, lambda run: pair <= run)
    assert [one.kind for one in search.found] == ["together"]
    assert blamed(search) == {pair}


@given(st.integers(2, 64), st.integers(1, 2))
def test_what_fails_everywhere_is_nobodys_fault(count, at_least):
    search = Bisection(names(count), at_least=at_least)
    runs = drive(search, lambda run: True)
    assert not blamed(search)
    assert [one.kind for one in search.found] == ["shared"]
    assert runs < 40


def test_failing_from_a_number_of_nodes_on_is_nobodys_fault():
    search = Bisection(names(16))
    drive(search, lambda run: len(run) >= 6)
    assert not blamed(search)
    assert search.found[0].kind == "shared"
    assert len(search.found[0].ran) == 6


def test_what_passes_is_run_once():
    search = Bisection(names(64))
    assert drive(search, lambda run: False) == 1
    assert not search.found


def test_one_of_64_takes_few_runs():
    search = Bisection(names(64))
    assert drive(search, lambda run: "n17" in run) <= 16


@given(st.integers(8, 40), st.data())
def test_any_monotone_fault_ends_and_blames_only_who_is_part_of_it(count, data):
    nodes = names(count)
    causes = data.draw(
        st.lists(st.frozensets(st.sampled_from(nodes), min_size=1, max_size=2), min_size=1, max_size=3)
    )
    search = Bisection(nodes)
    drive(search, lambda run: any(cause <= run for cause in causes))
    involved = frozenset().union(*causes)
    assert all(one <= involved for one in blamed(search))
    assert blamed(search) or len(involved) > count - 3


def test_a_set_that_cannot_be_run_is_tried_again_and_then_undecided():
    search = Bisection(names(4))
    asking = search.ask()
    assert next(asking) == [names(4)]
    assert asking.send([Outcome.UNABLE]) == [names(4)]
    with pytest.raises(Undecided, match="could not be run on n0, n1, n2, n3"):
        asking.send([Outcome.UNABLE])


def test_fewer_nodes_than_the_command_needs_is_refused():
    with pytest.raises(ValueError, match="2 nodes, and the command needs 3"):
        Bisection(names(2), at_least=3)
