from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from greenroom.policy.drift import ABSENT, Drift, differences, drifts, majority

FACTS = st.dictionaries(st.sampled_from("abc"), st.sampled_from("123"))


def test_differences_name_what_is_other_what_lacks_and_what_is_too_many():
    found = differences({"a": "1", "b": "1", "d": "1"}, {"a": "1", "b": "2", "c": "3"})
    assert found == [
        Drift(fact="b", measured="1", expected="2"),
        Drift(fact="c", measured=ABSENT, expected="3"),
        Drift(fact="d", measured="1", expected=ABSENT),
    ]


def test_the_odd_node_is_named_and_how_many_are_otherwise():
    nodes = {f"n{i}": {"driver": "570"} for i in range(9)} | {"n9": {"driver": "565", "mtu": "1500"}}
    assert drifts(nodes) == {
        "n9": [
            Drift(fact="driver", measured="565", expected="570", share=0.9),
            Drift(fact="mtu", measured="1500", expected=ABSENT, share=0.9),
        ]
    }


def test_a_node_that_lacks_what_the_others_have_drifts():
    nodes = {"a": {"x": "1"}, "b": {"x": "1"}, "c": {}}
    assert [one.measured for one in drifts(nodes)["c"]] == [ABSENT]


def test_a_fleet_in_the_midst_of_an_update_has_no_majority():
    nodes = {f"n{i}": {"driver": "570" if i % 2 else "565"} for i in range(10)}
    assert drifts(nodes) == {}
    assert majority(nodes).split == {"driver": {"565": 5, "570": 5}}


def test_two_nodes_have_no_majority():
    assert drifts({"a": {"x": "1"}, "b": {"x": "2"}}) == {}


@given(FACTS)
def test_nothing_differs_from_itself(facts):
    assert differences(facts, facts) == []
    assert drifts(dict.fromkeys("abc", facts)) == {}


@given(st.dictionaries(st.sampled_from("vwxyz"), FACTS))
def test_what_is_named_is_so_and_fewer_than_half_have_it(nodes):
    for node, odd in drifts(nodes).items():
        for one in odd:
            assert nodes[node].get(one.fact, ABSENT) == one.measured != one.expected
            like = [other for other in nodes.values() if other.get(one.fact, ABSENT) == one.measured]
            assert len(like) < len(nodes) / 2
