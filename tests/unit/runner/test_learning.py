from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.checks.expectations import load_expected
from greenroom.cli.expect import render
from greenroom.model.results import CheckResult, Report
from greenroom.model.words import Outcome, Verdict
from greenroom.runner.learning import TooFew, learn
from greenroom.runner.lint import lint

DECLARED = load_expected()


def report(node, verdict=Verdict.FIT, unable="", **looked):
    results = [
        CheckResult(check=name.replace("__", "."), outcome=Outcome.PASS, looked=seen)
        for name, seen in looked.items()
    ]
    if unable:
        results.append(CheckResult(check=unable, outcome=Outcome.UNABLE))
    return Report(run_id="", node=node, profile="light", verdict=verdict, results=tuple(results))


def fleet(name, values, **common):
    return [report(f"n{i:02}", **{name: value}, **common) for i, value in enumerate(values)]


def values(lesson):
    return {one.threshold.name: one.threshold.value for one in lesson.learned}


def row(lesson, name):
    (one,) = (one for one in lesson.learned if one.threshold.name == name)
    return one


def test_a_number_is_the_median_less_its_spread():
    speeds = [20.0, 20.2, 19.9, 20.1, 20.0, 20.3, 19.8, 20.0, 9.0]
    lesson = learn(fleet("loopback__tcp", [{"gbps": one} for one in speeds]), DECLARED, day="2026-12-01")
    learned = row(lesson, "network.loopback_gbps_min")
    assert (learned.threshold.typical, learned.threshold.nodes) == (20.0, 9)
    assert learned.threshold.value == 10.0  # the declared margin of this one is a half
    assert learned.odd == ("n08",)
    assert "2026-12-01" in learned.threshold.source
    assert "median" in learned.threshold.method


def test_a_wide_spread_widens_the_limit():
    sizes = [1000.0, 1040.0, 960.0, 1020.0, 980.0, 1010.0, 990.0, 1030.0, 970.0]
    lesson = learn(fleet("memory__size", [{"total_gib": one} for one in sizes]), DECLARED, day="d")
    assert row(lesson, "memory.total_gib_min").threshold.value == pytest.approx(1000 - 4 * 1.4826 * 20, 0.001)


def test_the_worst_part_of_a_node_counts():
    seen = [{"readings": {f"gpu{g}": {"pcie_width": 16} for g in range(8)}} for _ in range(10)]
    seen[3]["readings"]["gpu5"] = {"pcie_width": 8}
    learned = row(learn(fleet("gpu_links__pcie", seen), DECLARED, day="d"), "gpu.pcie_width_min")
    assert (learned.threshold.value, learned.odd) == (16, ("n03",))


def test_yes_no_and_text_and_names():
    looked = {
        "configuration__drift": {"gpu.0.ecc_enabled": "True", "cpu.governor": "performance"},
        "infiniband__ports": {"mlx5_0/1": {"state": "ACTIVE"}, "mlx5_1/1": {"state": "DOWN"}},
    }
    learned = values(learn([report(f"n{i}", **looked) for i in range(8)], DECLARED, day="d"))
    assert learned["gpu.ecc_enabled"] is True
    assert learned["processor.governor"] == "performance"
    assert learned["infiniband.ports"] == ["mlx5_0/1"]


def test_what_the_nodes_do_not_agree_on_is_not_said_and_why():
    drivers = [{"driver_version": "570.1" if i % 3 else "565.2"} for i in range(9)]
    lesson = learn(fleet("gpu_driver__version", drivers), DECLARED, day="d")
    assert "gpu.driver_version" not in values(lesson)
    assert lesson.refused["gpu.driver_version"] == "the nodes do not agree: 570.1 on 6, 565.2 on 3"


def test_too_few_or_sick_nodes_teach_nothing():
    good = fleet("memory__size", [{"total_gib": 1.0}] * 7)
    sick = [report("bad", Verdict.UNFIT), report("odd", Verdict.UNDECIDED, "gpu_memory.ecc")]
    with pytest.raises(TooFew, match="7 healthy nodes, it takes 8; bad: unfit; odd: undecided"):
        learn([*good, *sick], DECLARED, day="d")


def test_a_node_whose_only_lack_is_what_is_learned_counts():
    good = fleet(
        "memory__size", [{"total_gib": 1.0}] * 8, verdict=Verdict.UNDECIDED, unable="gpu_model.known"
    )
    assert values(learn(good, DECLARED, day="d")) == {"memory.total_gib_min": 0.99}


@given(st.lists(st.floats(1.0, 1e6), min_size=8, max_size=30))
def test_a_limit_is_below_the_median_and_the_odd_are_below_the_limit(numbers):
    lesson = learn(fleet("memory__size", [{"total_gib": one} for one in numbers]), DECLARED, day="d")
    for one in lesson.learned:
        assert 0 < one.threshold.value < one.threshold.typical
        assert len(one.odd) < len(numbers) / 2


def test_what_is_learned_can_be_read_back_and_has_no_fault(tmp_path):
    looked = {
        "configuration__drift": {"gpu.0.ecc_enabled": "True", "cpu.governor": 'per"f'},
        "loopback__tcp": {"gbps": 20.0},
        "infiniband__ports": {"mlx5_0/1": {"state": "ACTIVE"}},
    }  # fmt: skip
    lesson = learn([report(f"n{i}", **looked) for i in range(8)], DECLARED, day="d")
    site = tmp_path / "learned.toml"
    site.write_text(render(lesson, 'NVIDIA "X"'))
    assert tomllib.loads(site.read_text())["machine"] == {"match": ['NVIDIA "X"']}
    read = load_expected(gpu_names=['NVIDIA "X"'], site_file=site)
    for one in lesson.learned:
        known = read[one.threshold.name]
        assert (known.value, known.method) == (one.threshold.value, one.threshold.method)
    assert lint(site) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[gpu]\ncount = 8\n", "gpu.count: no source"),
        (
            '[gpu]\nnvlinks_min = { value = 18, source = "x", typical = 18 }\n',
            "typical value without a method",
        ),
        (
            '[gpu]\nnvlinks_min = { value = 18, source = "x", typical = 12, method = "m", nodes = 9 }\n',
            "gpu.nvlinks_min: a healthy machine has 12 and would fail at a limit of 18",
        ),
        (
            '[clock]\noffset_s_max = { value = 1, source = "x", typical = 2, method = "m", nodes = 9 }\n',
            "has 2 and would fail at a limit of 1",
        ),
        (
            '[gpu]\nnvlinks_min = { value = 1, source = "x", method = "m", nodes = 3 }\n',
            "from 3 nodes, it takes 8",
        ),
        ('[gpu]\ncount = { value = -1, source = "x" }\n', "gpu.count: -1 is below 0"),
        ("", "says nothing"),
        ("[gpu]\ncuont = 8\n", "did you mean gpu.count"),
    ],
)
def test_lint_names_the_mistake(tmp_path, text, says):
    site = tmp_path / "site.toml"
    site.write_text(text)
    (problem,) = lint(tmp_path)
    assert problem.startswith(str(site))
    assert says in problem
