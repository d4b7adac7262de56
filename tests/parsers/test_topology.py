from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.parsers.topology import TopologyUnreadable, racks

CONF = """
# two leaves under a spine
SwitchName=leaf1 Nodes=gpu[01-03]
SwitchName=leaf2 Nodes=gpu[04-05],gpu07 LinkSpeed=800
switchname=spine Switches=leaf[1-2]
"""
SCONTROL = """SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=gpu[01-03]
SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=gpu[04-05,07]
SwitchName=spine Level=1 LinkSpeed=1 Nodes=gpu[01-05,07] Switches=leaf[1-2]
"""
TREE = {
    **dict.fromkeys(("gpu01", "gpu02", "gpu03"), "leaf1"),
    **dict.fromkeys(("gpu04", "gpu05", "gpu07"), "leaf2"),
}


def nodes(labels):
    items = [{"metadata": {"name": name, "labels": given}} for name, given in labels.items()]
    return json.dumps({"kind": "List", "items": items})


@pytest.mark.parametrize("text", [CONF, SCONTROL])
def test_slurm_s_leaves_are_the_racks(text):
    assert racks(text) == TREE


def test_slurm_s_blocks_are_racks():
    assert racks("BlockName=b1 BlockIndex=0 Nodes=n[1-2]\nBlockSizes=2\n") == {"n1": "b1", "n2": "b1"}


def test_kubernetes_labels_the_nearest_switch_first():
    leaf, spine = "network.topology.nvidia.com/leaf", "network.topology.nvidia.com/spine"
    text = nodes({"a": {leaf: "s1", spine: "t"}, "b": {leaf: "s2", spine: "t"}, "c": {}})
    assert racks(text) == {"a": "s1", "b": "s2"}
    assert racks(text, label=spine) == {"a": "t", "b": "t"}


def test_a_map_is_taken_as_it_is():
    assert racks('{"a": "r1", "b": "r2"}') == {"a": "r1", "b": "r2"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no node in it"),
        ("SwitchName=s1 Nodes=n[1-\n", "line 1: Nodes:"),
        ("{", "no JSON"),
        ('{"a": 3}', 'expected {"node": "rack"'),
        ('{"items": [{"metadata": {}}]}', "items[0].metadata.name"),
        (nodes({"a": {"rack": "r1"}}), "no node has a label of"),
    ],
)
def test_what_is_no_topology_is_said_so(text, says):
    with pytest.raises(TopologyUnreadable) as raised:
        racks(text)
    assert says in str(raised.value)


@given(st.text())
def test_no_text_makes_it_raise_anything_else(text):
    with contextlib.suppress(TopologyUnreadable):
        racks(text)
