"""Files of GPU models: each fits the names that NVML and AMD SMI print for it and no other."""

import pytest
from healthy import ask, gpus

from greenroom.checks.expectations import (
    ExpectedWrong,
    Hardware,
    fit,
    load_expected,
    model_files,
    pick_model_file,
)
from greenroom.probes.gpus import pci_ids
from greenroom.probes.host import ProbeUnavailable
from greenroom.probes.nvml import NOT_SUPPORTED
from greenroom.probes.recorded import RecordedHost

NAMES = {
    "a10": ["NVIDIA A10"],
    "a100": ["NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB", "A100-SXM4-40GB"],
    "a100_pcie": ["NVIDIA A100-PCIE-40GB", "NVIDIA A100 80GB PCIe"],
    "a30": ["NVIDIA A30"],
    "a40": ["NVIDIA A40"],
    "b200": ["NVIDIA B200"],
    "gb200": ["NVIDIA GB200"],
    "gh200": ["NVIDIA GH200 480GB", "NVIDIA GH200 120GB", "NVIDIA GH200 144G HBM3e"],
    "h100": ["NVIDIA H100 80GB HBM3"],
    "h100_nvl": ["NVIDIA H100 NVL"],
    "h100_pcie": ["NVIDIA H100 PCIe"],
    "h200": ["NVIDIA H200"],
    "h200_nvl": ["NVIDIA H200 NVL"],
    "l4": ["NVIDIA L4"],
    "l40": ["NVIDIA L40"],
    "l40s": ["NVIDIA L40S"],
    "mi210": ["AMD Instinct MI210"],
    "mi250x": ["AMD Instinct MI250X", "AMD Instinct MI250X / MI250"],
    "mi300x": ["AMD Instinct MI300X", "AMD Instinct MI300X OAM"],
    "mi325x": ["AMD Instinct MI325X"],
    "mi355x": ["AMD Instinct MI355X", "AMD Instinct MI350X"],
    "t4": ["Tesla T4"],
    "v100_pcie": ["Tesla V100-PCIE-16GB", "Tesla V100-PCIE-32GB"],
    "v100_sxm": ["Tesla V100-SXM2-16GB", "Tesla V100-SXM2-32GB", "Tesla V100-SXM3-32GB"],
}
OTHERS = ["NVIDIA GeForce RTX 4090", "NVIDIA A10G", "NVIDIA A800-SXM4-80GB", "NVIDIA A40-48Q", "NVIDIA A10-24Q",
          "GRID A100-40C", "NVIDIA RTX A4000", "NVIDIA L40-48Q", "NVIDIA T400", "Tesla P100-PCIE-16GB", "AMD Radeon VII"]  # fmt: skip
H100_IDS = ("10de:2330:10de:16c1",) * 8


def picked(**hardware):
    file = pick_model_file(Hardware(**hardware))
    return file.stem if file else None


def test_every_file_is_shown():
    assert {path.stem for path in model_files()} == set(NAMES)


@pytest.mark.parametrize(("file", "name"), [(file, name) for file, names in NAMES.items() for name in names])
def test_a_name_has_one_file_and_no_other(file, name):
    assert picked(gpu_names=(name, name)) == file
    assert [path.stem for path in model_files() if fit(path, Hardware(gpu_names=(name,)))] == [file]


@pytest.mark.parametrize("name", OTHERS)
def test_other_names_have_none(name):
    assert picked(gpu_names=(name,)) is None


def test_a_machine_of_two_models_has_no_file():
    assert picked(gpu_names=("NVIDIA H100 80GB HBM3", "NVIDIA H200")) is None
    assert picked() is None


def test_pci_ids_tell_the_model_where_no_driver_does():
    assert picked(pci_ids=H100_IDS) == "h100"
    assert picked(pci_ids=("10de:2330:10de:16c1", "10de:2335:10de:18be")) is None
    assert picked(pci_ids=("10de:23:10de:16c1",)) is None
    # the driver's name comes first: boards differ in their ids more than in their names
    assert picked(gpu_names=("NVIDIA H200",), pci_ids=H100_IDS) == "h200"


def test_a_site_names_a_board_by_its_subsystem(tmp_path):
    ours = tmp_path / "ours.toml"
    ours.write_text('[machine]\npci_ids = ["10de:2330:10de:16c1"]\n[gpu]\ncount = 8\n')
    names = ["NVIDIA H100 80GB HBM3"] * 8
    assert load_expected(gpu_names=names, pci_ids=H100_IDS, site_file=ours)["gpu.count"].value == 8
    other = ("10de:2330:10de:1839",)
    assert load_expected(gpu_names=names, pci_ids=other, site_file=ours)["gpu.count"].value is None
    assert load_expected(gpu_names=names, site_file=ours)["gpu.count"].value is None


@pytest.mark.parametrize("wrong", ["10DE:2330", "0x10de:2330", "10de", "10de:2330:10de"])
def test_a_wrong_id_is_named_with_file_and_line(tmp_path, wrong):
    path = tmp_path / "ours.toml"
    path.write_text(f'[machine]\nmatch = ["H100"]\npci_ids = ["{wrong}"]\n')
    with pytest.raises(
        ExpectedWrong, match=rf"ours.toml:3: machine.pci_ids: expected vendor:device .*got '{wrong}'"
    ):
        load_expected(site_file=path, match=False)


def test_ids_are_read_off_the_bus():
    files = {}
    for slot, kind in ((1, "0x030200"), (2, "0x030200"), (3, "0x040300")):
        rows = {
            "vendor": "0x10de",
            "class": kind,
            "device": "0x2330",
            "subsystem_vendor": "0x10de",
            "subsystem_device": "0x16c1",
        }
        files |= {
            f"/sys/bus/pci/devices/0000:0{slot}:00.0/{name}": f"{text}\n" for name, text in rows.items()
        }
    del files["/sys/bus/pci/devices/0000:02:00.0/device"]  # it leaves the bus just now
    assert pci_ids(RecordedHost(files=files), "nvidia") == ["10de:2330:10de:16c1"]
    assert pci_ids(RecordedHost(files=files), "amd") == []


@pytest.mark.parametrize("path", model_files(), ids=lambda path: path.stem)
def test_every_value_has_a_source_and_is_known(path):
    own = load_expected(site_file=path, match=False).thresholds.values()
    said = [one for one in own if one.value is not None and one.source != str(path)]
    assert said
    assert all(one.source for one in said)


def test_a_reading_that_the_model_has_may_not_be_unsupported():
    errors = {**gpus().gpus[0].errors, "remap_pending": NOT_SUPPORTED}
    facts = gpus(remap_pending=None, errors=errors)
    expected = load_expected(gpu_names=["NVIDIA H100 80GB HBM3"])
    with pytest.raises(
        ProbeUnavailable, match="gpu2 remap_pending: not supported, though this model reports it"
    ):
        ask("gpu_memory.row_remap", facts=facts, expected=expected)
