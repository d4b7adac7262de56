from __future__ import annotations

import pytest
from cases_gpus import kmsg, xid
from healthy import ask, codes, expect, gpus
from hypothesis import given
from hypothesis import strategies as st

from greenroom import faults
from greenroom.checks.frame import Looked, NotApplicable, load_all
from greenroom.probes.host import ProbeUnavailable
from greenroom.probes.nvml import LOST, NOT_SUPPORTED, Driver
from greenroom.probes.recorded import RecordedHost

HOST = kmsg()
GPU_CHECKS = sorted(name for name, check in load_all().items() if "nvidia" in check.vendors)


@pytest.mark.parametrize("name", GPU_CHECKS)
def test_no_gpu_and_none_expected_is_skipped(name):
    for facts in (gpus(driver=Driver.LIBRARY_MISSING), gpus(driver=Driver.NOT_LOADED), gpus(count=0)):
        assert isinstance(ask(name, facts=facts, expected=expect(gpu__count=None), host=HOST), NotApplicable)
        assert isinstance(ask(name, facts=facts, expected=expect(gpu__count=0), host=HOST), NotApplicable)


@pytest.mark.parametrize("name", [name for name in GPU_CHECKS if not name.startswith("kernel_log.")])
@pytest.mark.parametrize("driver", [Driver.HUNG, Driver.FAILED, Driver.BINDING_MISSING])
def test_a_driver_that_cannot_be_asked_is_neither_pass_nor_fail(name, driver):
    with pytest.raises(ProbeUnavailable, match="why"):
        ask(name, facts=gpus(driver=driver, message="why"))


@pytest.mark.parametrize("name", [name for name in GPU_CHECKS if not name.startswith("kernel_log.")])
def test_zero_gpus_where_some_are_expected_never_pass(name):
    try:
        answer = ask(name, facts=gpus(count=0))
    except ProbeUnavailable:
        return
    # The driver may well be of the right version; that all GPUs are there, nobody may say.
    assert name == "gpu_driver.version" or codes(answer) == ["gpu.missing"]


def test_missing_gpu_by_told_number_and_by_bus():
    assert codes(ask("gpu_count.all_answer", facts=gpus(count=7))) == ["gpu.missing"]
    untold = expect(gpu__count=None)
    assert codes(ask("gpu_count.all_answer", facts=gpus(count=7), expected=untold, on_bus=8)) == [
        "gpu.missing"
    ]
    for on_bus in (0, 8):  # what the machine shows of itself is no proof
        with pytest.raises(ProbeUnavailable, match=r"(?s)--expect-gpus 8, or add.*count = 8"):
            ask("gpu_count.all_answer", facts=gpus(), expected=untold, on_bus=on_bus)


@pytest.mark.parametrize("place", ["/dev/nvidia{}", "/proc/driver/nvidia/gpus/0000:0{}:00.0/information"])
def test_a_gpu_that_is_still_listed_elsewhere_is_missing(place):
    files = {place.format(number): "" for number in range(8)} | {"/dev/nvidiactl": "", "/dev/nvidia-uvm": ""}
    answer = ask(
        "gpu_count.all_answer",
        facts=gpus(count=7),
        expected=expect(gpu__count=None),
        host=RecordedHost(files=files),
    )
    assert codes(answer) == ["gpu.missing"]
    assert "7 GPUs answer, 8 " in answer.findings[0].message


def test_gpu_that_only_says_unknown_error_is_missing():
    answer = ask("gpu_count.all_answer", facts=gpus(errors={"handle": "NVML: Unknown Error"}))
    assert codes(answer) == ["gpu.missing"]
    assert "gpu2" in answer.findings[0].evidence[0]


def test_driver_absent_while_the_bus_shows_gpus():
    facts = gpus(driver=Driver.LIBRARY_MISSING)
    answer = ask("gpu_driver.version", facts=facts, expected=expect(gpu__count=None), on_bus=8)
    assert codes(answer) == ["gpu.driver.absent"]


def test_unreadable_reading_is_unable_but_does_not_hide_a_fault():
    denied = {"errors": {"ecc_volatile_uncorrected": "no permission"}, "ecc_volatile_uncorrected": None}
    with pytest.raises(ProbeUnavailable, match=r"gpu2.*no permission"):
        ask("gpu_memory.ecc", facts=gpus(**denied))
    facts = gpus(errors={"remap_pending": "no permission"}, remap_pending=None, remap_failed=True)
    assert codes(ask("gpu_memory.row_remap", facts=facts)) == ["gpu.row_remap.failure"]


def test_reading_that_no_gpu_has_is_skipped():
    assert isinstance(ask("gpu_memory.retired_pages"), NotApplicable)


def test_a_lost_gpu_does_not_keep_the_others_from_being_looked_at():
    answer = ask("gpu_memory.ecc", facts=gpus(errors={"handle": LOST}, ecc_enabled=None))
    assert isinstance(answer, Looked)
    assert answer.looked["gpus"] == 7


def test_nothing_is_expected_of_nvlink_on_an_unknown_model():
    assert isinstance(ask("gpu_links.nvlink", expected=expect(names=("Other",))), NotApplicable)


def test_xid_names_the_gpu_and_counts_an_incident_once():
    answer = ask("kernel_log.xid", host=kmsg(*[xid(79)] * 500))
    assert codes(answer) == ["gpu.xid.79"]
    assert answer.findings[0].subject == "gpu2"
    assert answer.findings[0].measured == "500"


def test_the_xid_check_finds_the_family_of_the_catalogue():
    assert load_all()["kernel_log.xid"].detects == faults.codes("xid")


def test_the_nvswitch_check_finds_the_family_of_the_catalogue():
    assert load_all()["kernel_log.nvswitch"].detects == faults.codes("sxid")


def test_the_word_of_the_switch_driver_decides_and_an_unknown_sxid_is_a_suspect():
    line = "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): {}, Link 32 egress crc error".format
    answer = ask(
        "kernel_log.nvswitch", host=kmsg(line("12028, Non-fatal"), line("12028, Fatal"), line("99999, "))
    )
    severities = {(one.code, str(one.severity)) for one in answer.findings}
    assert ("nvswitch.sxid.12028", "fail") in severities
    assert ("nvswitch.sxid.99999", "suspect") in severities
    assert codes(ask("kernel_log.host", host=kmsg(line("12028, Fatal")))) == []


def test_user_xids_are_notes_and_do_not_fail():
    answer = ask("kernel_log.xid", host=kmsg(xid(43)))
    assert [finding.severity for finding in answer.findings] == ["note"]


def test_unknown_xid_is_suspect():
    answer = ask("kernel_log.xid", host=kmsg(xid(987)))
    assert [finding.severity for finding in answer.findings] == ["suspect"]


def test_xid_before_the_last_admission_is_history():
    host = kmsg(xid(79))  # 50 s after the boot at 900
    assert codes(ask("kernel_log.xid", host=host, since=949.0)) == ["gpu.xid.79"]
    assert codes(ask("kernel_log.xid", host=host, since=951.0)) == []


def test_a_reset_clears_what_a_reset_can_clear():
    host = kmsg(xid(48), xid(79))  # 50 s after the boot at 900; 79 takes a reboot
    assert codes(ask("kernel_log.xid", host=kmsg(xid(48)), reset_at=951.0)) == []
    assert codes(ask("kernel_log.xid", host=kmsg(xid(48)), reset_at=949.0)) == ["gpu.xid.48"]
    assert codes(ask("kernel_log.xid", host=host, reset_at=951.0)) == ["gpu.xid.79"]
    assert codes(ask("kernel_log.xid", host=host, reset_at=949.0, since=951.0)) == []


@pytest.mark.parametrize(
    ("action", "found"),
    [
        ("0x1 (GPU Reset Required)", ["gpu.recovery.reset"]),
        ("0x2 (Node Reboot Required)", ["gpu.recovery.reboot"]),
        ("0x0 (None)", []),
        ("0x5 (?)", ["gpu.recovery.other"]),
    ],
)
def test_the_drivers_own_word_on_recovery(action, found):
    line = f"NVRM: Xid (PCI:0000:1c:00): 154, GPU recovery action changed from 0x0 (None) to {action}"
    assert codes(ask("kernel_log.xid", host=kmsg(line))) == found


def test_the_driver_s_word_outranks_the_catalogue_and_follow_ups_are_no_findings():
    change = "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"
    lines = [xid(62), *[xid(45)] * 40, xid(154, change)]
    (finding,) = ask("kernel_log.xid", host=kmsg(*lines)).findings
    assert (finding.code, finding.severity, finding.remedy) == ("gpu.xid.62", "fail", "reboot")
    assert finding.measured == "1"


def test_an_nvlink5_report_is_judged_by_its_sub_code():
    line = "NVRM: Xid (PCI:0000:1c:00): 149, {unit}  {word}  XC0 i0 Link 01 ({intr} {status} 0x0 0x0 0x0 0x0)"
    down = line.format(unit="NETIR_LINK_EVT", word="Fatal", intr="0x025001c6", status="0x00000000")
    noisy = line.format(unit="NETIR_BER_EVENT", word="Nonfatal", intr="0x00086226", status="0x00000001")
    found = [
        finding.severity
        for text in (down, noisy)
        for finding in ask("kernel_log.xid", host=kmsg(text)).findings
    ]
    assert found == ["fail", "suspect"]


def test_empty_or_unreadable_kernel_log_is_no_pass():
    for files in ({}, {"/dev/kmsg": ""}):
        with pytest.raises(ProbeUnavailable):
            ask("kernel_log.xid", host=RecordedHost(files=files))


@given(reasons=st.integers(0, 2**12), width=st.sampled_from([1, 2, 4, 8, 16]), gen=st.integers(1, 6))
def test_link_and_throttle_never_raise(reasons, width, gen):
    facts = gpus(clock_reasons=reasons, pcie_width=width, pcie_gen=gen)
    assert bool(codes(ask("gpu_links.pcie", facts=facts))) == (width < 16 or (not reasons & 1 and gen < 5))
    assert bool(codes(ask("gpu_clocks.throttle", facts=facts))) == bool(reasons & 0xE8)


def test_unsupported_is_told_from_failed():
    facts = gpus(errors={"nvlinks_up": NOT_SUPPORTED}, nvlinks_up=None)
    assert codes(ask("gpu_links.nvlink", facts=facts)) == []
