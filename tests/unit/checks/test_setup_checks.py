from __future__ import annotations

import tomllib

import pytest
from cases_setup import TREE, WANTED, golden, machine
from healthy import ask, expect, gpus

from greenroom.checks.configuration import read_facts
from greenroom.checks.frame import Facts, NotApplicable
from greenroom.probes.host import ProbeUnavailable
from greenroom.probes.recorded import RecordedHost


def test_facts_of_a_machine():
    facts = read_facts(Facts(gpus=gpus()), machine())
    assert facts["kernel.cmdline"] == "iommu=pt quiet"
    assert facts["memory.gib"] == "2016"
    assert (facts["cpu.model"], facts["cpu.microcode"]) == ("Xeon", "0x1")
    assert facts["os.release"] == "Debian GNU/Linux 12 (bookworm)"
    assert facts["infiniband.mlx5_0.firmware"] == "28.39.1002"
    assert facts["module.nvidia.version"] == "570.124.06"
    assert facts["network.eth0.mtu"] == "9000"
    assert (facts["gpu.count"], facts["gpu.7.nvlinks_up"]) == ("8", "18")
    assert not [name for name in facts if "veth" in name or "xz_dec" in name]
    assert list(facts) == sorted(facts)


def test_what_changes_with_each_boot_is_no_fact():
    again = machine(proc__cmdline=TREE["/proc/cmdline"].replace("UUID=1-2", "UUID=9-9"))
    assert read_facts(Facts(gpus=gpus()), again) == read_facts(Facts(gpus=gpus()), machine())


def test_without_a_golden_file_the_facts_are_told_all_the_same():
    answer = ask("configuration.drift", host=machine())
    assert isinstance(answer, NotApplicable)
    assert answer.looked["kernel.release"] == "6.1.0-18-amd64"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"a": 1}', "{"])
def test_a_golden_file_that_is_none_is_unable(text):
    with pytest.raises(ProbeUnavailable, match="/golden"):
        ask("configuration.drift", host=machine(text), expected=WANTED)
    with pytest.raises(ProbeUnavailable, match="/golden"):
        ask("configuration.drift", host=RecordedHost(), expected=WANTED)


def test_a_finding_says_what_is_and_what_should_be():
    host = machine(golden(), proc__sys__vm__swappiness="60\n")
    (finding,) = ask("configuration.drift", host=host, expected=WANTED).findings
    assert (finding.subject, finding.measured) == ("sysctl.vm.swappiness", "60")
    assert "has 10" in finding.message


def test_the_lines_to_add_make_the_model_known(tmp_path):
    from greenroom.checks.expectations import load_expected

    facts = gpus(count=3, name="NVIDIA X9")
    alike = facts.gpus[2]
    with pytest.raises(ProbeUnavailable) as error:
        ask("gpu_model.known", facts=type(facts)(driver=facts.driver, gpus=(alike,)), expected=expect(names=("NVIDIA X9",)))  # fmt: skip
    text = str(error.value).partition("\n")[2]
    assert tomllib.loads(text)["gpu"] == {"pcie_gen_min": 5, "pcie_width_min": 16, "nvlinks_min": 18}
    (tmp_path / "x9.toml").write_text(text)
    known = load_expected(gpu_names=["NVIDIA X9"], site_file=tmp_path)
    assert known["gpu.model"].value == "NVIDIA X9"


def test_several_models_and_no_word_which_belongs_here():
    facts = gpus(name="NVIDIA H100 PCIe")
    with pytest.raises(ProbeUnavailable, match="several models"):
        ask("gpu_model.known", facts=facts, expected=expect(names=("a", "b")))
