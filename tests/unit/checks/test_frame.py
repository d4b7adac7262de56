from __future__ import annotations

import re
from pathlib import Path

import pytest
from healthy import H100

from greenroom import parsers
from greenroom.checks.docs import pages
from greenroom.checks.expectations import ExpectedWrong, load_expected
from greenroom.checks.frame import load_all
from greenroom.faults import codes, lookup
from greenroom.parsers import kernel_faults

DOCS = Path(__file__).parents[3] / "docs" / "checks"


def test_every_code_that_can_be_found_is_in_the_catalogue_and_the_other_way_round():
    detected = {code for check in load_all().values() for code in check.detects}
    read = {rule.code for rule in kernel_faults.RULES} - {"pcie.aer"}
    aer = {f"pcie.aer.{kind}" for kind in ("corrected", "nonfatal", "fatal")}
    missing = {code for code in detected | read | aer if lookup(code).source == "not in the catalogue"}
    assert missing == set()
    assert codes("checks") - detected - read == set()  # a fault of our checks that none of them can find


def test_every_code_that_a_parser_names_is_in_the_catalogue():
    """Read from their sources: a code is a literal there, or the beginning of one that a counter ends."""
    families = "ib|roce|nic|nvme|smart|nccl|perftest|slurm|fabric|lb|node|disk|storage|pcie"
    named = set()
    for path in Path(parsers.__file__).parent.glob("*.py"):
        named |= set(
            re.findall(rf'"((?:{families})\.[a-z0-9_.]*[a-z0-9_])"', path.read_text(encoding="utf-8"))
        )
    families_only = {"ib.port", "roce.port", "nic.errors.total", "pcie.aer"}
    unknown = {code for code in named if lookup(code).source == "not in the catalogue"}
    assert len(named) > 80
    assert unknown - families_only == set()


@pytest.mark.parametrize("name", load_all())
def test_a_check_is_declared_whole(name):
    check = load_all()[name]
    assert check.about.endswith(".")
    assert check.detects
    assert check.cost_s > 0
    load_expected().only(check.expects)  # raises for a threshold nobody declared
    quick = "quick" in check.profiles
    assert not (quick and check.load_share)
    # What is left out of the quick look has a reason: it puts load on the machine, or takes its time.
    assert quick or check.load_share or check.cost_s >= 0.1


def test_every_threshold_is_asked_for_and_every_value_has_a_source():
    asked = {name for check in load_all().values() for name in check.expects}
    for names in ((), (H100,), ("NVIDIA H200",), ("NVIDIA A100-SXM4-80GB",)):
        thresholds = load_expected(gpu_names=names).thresholds
        assert set(thresholds) == asked
        assert all(threshold.source for threshold in thresholds.values() if threshold.value is not None)


def test_committed_docs_are_the_generated_ones():
    on_disk = {path.name: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}
    assert on_disk == pages(), "run: greenroom checks --docs docs/checks"


def test_site_file_wins(tmp_path):
    site = tmp_path / "site.toml"
    site.write_text('[gpu]\ncount = 4\nnvlinks_min = { value = 6, source = "half a board" }\n')
    expected = load_expected(gpu_names=[H100], site_file=site)
    assert expected["gpu.count"].value == 4
    assert expected["gpu.count"].source == str(site)
    assert (expected["gpu.nvlinks_min"].value, expected["gpu.nvlinks_min"].source) == (6, "half a board")
    assert expected["gpu.pcie_gen_min"].value == 5


def test_site_files_of_a_folder_count_on_the_machines_they_fit(tmp_path):
    (tmp_path / "all.toml").write_text("[gpu]\ncount = 4\n")
    (tmp_path / "big.toml").write_text(
        '[machine]\nmatch = ["H100"]\nexcept = ["NVL"]\nproduct = ["XE9680"]\n[gpu]\ncount = 8\n'
    )
    for name, product, count, model in (
        (H100, "PowerEdge XE9680", 8, H100),
        (H100, "Other", 4, H100),  # our own file knows the model
        ("NVIDIA H100 NVL", "PowerEdge XE9680", 4, "NVIDIA H100 NVL"),
        ("Other", "PowerEdge XE9680", 4, None),
    ):
        expected = load_expected(gpu_names=[name], product=product, site_file=tmp_path)
        assert (expected["gpu.count"].value, expected["gpu.model"].value) == (count, model)
    with pytest.raises(ExpectedWrong, match="in this folder"):
        load_expected(site_file=(tmp_path / "empty").mkdir() or tmp_path / "empty")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[gpu]\ncuont = 8\n", "site.toml:2: gpu.cuont: no such expectation; did you mean gpu.count"),
        ('[gpu]\ncount = "8"\n', "site.toml:2: gpu.count: expected a whole number, got '8'"),
        ("[gpu]\ncount = true\n", "gpu.count: expected a whole number"),
        ("[filesystem]\nmounts = [1]\n", "filesystem.mounts: expected a list of texts"),
        ("gpu = 8\n", "gpu: expected a table"),
        ("[gpu\n", "line 1"),
        ("[machine]\nmatsch = ['x']\n", "site.toml:2: machine.matsch: unknown key; expected match"),
        ("[machine]\nmatch = 'x'\n", "site.toml:2: machine.match: expected a list of texts"),
        ("machine = 1\n", "site.toml:1: machine: expected a table"),
        ("[gpu]\ncount = { value = 8, sauce = 'x' }\n", "gpu.count: unknown key sauce"),
        ("[gpu]\ncount = { value = 8, nodes = 'x' }\n", "gpu.count.nodes: expected a whole number"),
        ("[gpu]\ncount = { source = 'x' }\n", "gpu.count: expected a whole number, got None"),
        (None, "No such file"),
    ],
)
def test_wrong_site_file_names_file_and_field(tmp_path, text, says):
    site = tmp_path / "site.toml"
    if text is not None:
        site.write_text(text)
    with pytest.raises(ExpectedWrong) as error:
        load_expected(site_file=site)
    assert str(site) in str(error.value)
    assert says in str(error.value)
