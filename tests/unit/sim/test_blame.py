"""The methods on made-up fabrics; the figures of the documentation, with a small count."""

from __future__ import annotations

import json

import pytest

from greenroom.cli.main import main
from greenroom.sim.blame import compare, structural


def rows(**asked):
    return {row.method: row for row in compare(**asked)}


def test_ours_blames_seldom_and_is_cheap():
    told = rows(nodes=64, bad=4, flake=0.02, trials=300)
    ours = told["confirmed pairs"]
    assert ours.false_blames <= 0.02
    assert ours.misses == 0
    assert ours.rounds == 3
    assert ours.runs <= 46
    assert told["two passes"].false_blames > 3 * ours.false_blames
    assert told["second partner"].false_blames > told["two passes"].false_blames
    assert told["15 shuffles"].runs == 480
    assert told["all pairs"].runs == 64 * 63 // 2


@pytest.mark.parametrize(
    "method", ["confirmed pairs", "second partner", "two passes", "15 shuffles", "all pairs"]
)
def test_no_method_misses_a_bad_node_or_blames_one_where_nothing_flakes(method):
    (row,) = compare(nodes=32, bad=2, flake=0.0, trials=50, methods=(method,))
    assert row.misses == 0
    assert row.false_blames <= (0.3 if method == "second partner" else 0)


def test_faults_that_are_no_nodes_are_named_and_no_node_is_blamed():
    for row in structural(nodes=32, bad=1, flake=0.0, trials=30):
        assert row.named == 1, row.method
        assert row.false_blames == 0, row.method
        assert row.misses == 0, row.method


def test_the_same_seed_gives_the_same_figures():
    asked = {"nodes": 16, "bad": 1, "flake": 0.1, "trials": 20}
    assert list(compare(**asked, seed=3)) == list(compare(**asked, seed=3))


def test_the_command_prints_a_table_and_json(capsys):
    asked = ["sim", "blame", "--nodes", "16", "--bad", "1", "--trials", "5"]
    assert main(asked) == 0
    assert "confirmed pairs, adapter fault" in capsys.readouterr().out
    assert main([*asked, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1
    assert {row["method"] for row in document["rows"]} >= {"confirmed pairs", "bisection", "all pairs"}
    assert main(["sim", "blame", "--nodes", "4", "--bad", "5"]) == 64
    assert "at most --nodes" in capsys.readouterr().err
