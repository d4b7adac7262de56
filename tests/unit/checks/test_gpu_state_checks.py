from __future__ import annotations

from dataclasses import replace

import pytest
from healthy import ask, codes, expect, gpus

from greenroom.checks.frame import NotApplicable
from greenroom.probes.host import ProbeUnavailable
from greenroom.probes.nvml import NOT_SUPPORTED
from greenroom.probes.recorded import RecordedHost

MUST = expect(gpu__must_report=["remap_pending"])


def without(name, word):
    """A machine of one GPU, gpu2, that does not give a reading, for this reason."""
    facts = gpus()
    (gpu,) = gpus(**{"errors": {**facts.gpus[0].errors, name: word}, name: None}).gpus[2:3]
    return replace(facts, gpus=(gpu,))


@pytest.mark.parametrize(
    ("word", "expected", "says"),
    [
        (NOT_SUPPORTED, expect(gpu__must_report=[]), ""),
        (NOT_SUPPORTED, MUST, "gpu2 remap_pending: not supported, though this model reports it"),
        ("NVML error 999: Unknown Error", expect(), "gpu2 remap_pending: NVML error 999: Unknown Error"),
        ("timed out", expect(), "gpu2 remap_pending: timed out"),
        ("no permission", MUST, "gpu2 remap_pending: no permission"),
    ],
)
def test_four_reasons_for_no_reading_stay_four(word, expected, says):
    facts = without("remap_pending", word)
    if says:
        with pytest.raises(ProbeUnavailable, match=says):
            ask("gpu_memory.row_remap", facts=facts, expected=expected)
    else:
        assert codes(ask("gpu_memory.row_remap", facts=facts, expected=expected)) == []


@pytest.mark.parametrize(
    ("name", "reading"),
    [
        ("gpu_fabric.state", {"fabric_state": 0, "fabric_health": 0}),
        ("gpu_nvlink.c2c", {}),
        ("gpu_modes.left_over", {}),
        ("gpu_direct.module", {}),
    ],
)
def test_what_the_machine_does_not_have_is_skipped(name, reading):
    facts = gpus()
    if reading:
        facts = replace(facts, gpus=gpus(**reading).gpus[2:3])
    assert isinstance(ask(name, facts=facts), NotApplicable)


@pytest.mark.parametrize(
    ("version", "code"), [("580.65.06", "reset"), ("570.1", "other"), ("610.1", "other")]
)
def test_the_number_of_a_recovery_is_read_by_driver_branch(version, code):
    facts = gpus(recovery=5)
    facts = replace(facts, version=version)
    (finding,) = ask("gpu_recovery.action", facts=facts).findings
    assert finding.code == f"gpu.recovery.{code}"
    assert finding.severity == "fail"


def test_a_left_over_process_is_named():
    host = RecordedHost(files={"/proc/4711/comm": "python3\n"})
    answer = ask(
        "gpu_modes.left_over", facts=gpus(processes=(4711, 4712)), host=host, expected=expect(gpu__idle=True)
    )
    assert [finding.message for finding in answer.findings] == [
        "pid 4711 (python3) uses it",
        "pid 4712 (gone, or of another container) uses it",
    ]


def test_a_gpu_is_hot_once():
    answer = ask(
        "gpu_heat.temperature", facts=gpus(temperature_c=91), expected=expect(gpu__temperature_c_max=80)
    )
    assert codes(answer) == ["gpu.temperature.high"]


def test_the_odd_firmware_of_two_models_is_no_mismatch():
    facts = gpus(name="NVIDIA H100 PCIe", vbios="96.00.30.00.01")
    assert codes(ask("gpu_firmware.versions", facts=facts)) == []
