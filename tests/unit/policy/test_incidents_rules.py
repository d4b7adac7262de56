"""Combination rules, one real kind of case each. Lines are made up in the shape of the driver's."""

from __future__ import annotations

import pytest

from greenroom.faults import load
from greenroom.model.sightings import Scope, Sighting
from greenroom.model.words import Rung, Severity
from greenroom.policy.incidents import fold

GPU = "0000:1a:00"


def xid(number, at=None, text="", *, device=GPU, **detail):
    code = f"gpu.xid.{number}"
    evidence = f"NVRM: Xid (PCI:{device}): {number}, {text}"
    return Sighting(code=code, device=device, uptime_s=at, detail=detail, evidence=evidence)


def sxid(number, text, at=None, device="0000:84:00"):
    evidence = f"nvidia-nvswitch1: SXid (PCI:{device}.0): {number}, {text}"
    return Sighting(code=f"nvswitch.sxid.{number}", device=device, uptime_s=at, evidence=evidence)


def judged(incident):
    return incident.code, incident.severity, incident.remedy


def one(*sightings, **options):
    (incident,) = fold(sightings, load(), **options)
    return incident


# ---- lines of one event ----


def test_three_lines_of_one_exception_are_one_event():
    incident = one(
        xid(13, 100.0001, "Graphics Exception: ESR 0x5067b0=0x9"),
        xid(13, 100.0002, "Graphics SM Warp Exception on (GPC 1, TPC 0, SM 0): Illegal", gpc=1, tpc=0),
        xid(13, 100.0003, "Graphics SM Global Exception on (GPC 1, TPC 0, SM 0)", gpc=1, tpc=0),
    )
    assert (incident.count, incident.detail["lines"], incident.scope) == (1, 3, Scope.APPLICATION)
    assert incident.severity is Severity.NOTE


def test_devices_and_codes_stay_apart():
    incidents = fold([xid(79, 1.0), xid(79, 1.0, device="0001:1a:00"), xid(62, 90.0)], load())
    assert [(incident.device, incident.code) for incident in incidents] == [
        (GPU, "gpu.xid.79"),
        ("0001:1a:00", "gpu.xid.79"),
        (GPU, "gpu.xid.62"),
    ]


def test_the_same_a_day_later_is_another_incident():
    hour = 3600.0
    assert len(fold([xid(31, 0.0), xid(31, 23 * hour)], load())) == 1
    assert len(fold([xid(31, 0.0), xid(31, 25 * hour)], load())) == 2


def test_dates_outrank_uptimes_that_start_anew_with_each_boot():
    boots = [
        Sighting(code="gpu.xid.79", device=GPU, at=at, uptime_s=50.0, evidence="x")
        for at in (1e6, 1e6 + 2 * 86_400)
    ]
    assert len(fold(boots, load())) == 2


def test_the_gravest_burst_counts():
    calm, grave = "Non-fatal, Link 3", "Fatal, Link 3"
    for first, then in ((calm, grave), (grave, calm)):
        assert one(sxid(20034, first, 1.0), sxid(20034, then, 4000.0)).severity is Severity.FAIL


def test_counts_inside_the_lines_add_up():
    lines = [
        Sighting(code="host.edac.ce", device="dimm", uptime_s=t, count=n) for t, n in ((1.0, 4), (6.0, 6))
    ]
    assert one(*lines).count == 10


def test_evidence_is_a_handful_and_shows_the_followers():
    lines = [xid(62, 1.0 + n / 10, f"line {n}") for n in range(20)]
    incident = one(*lines, xid(45, 3.0, "Ch 00000010"))
    assert len(incident.evidence) == 5
    assert "line 0" in incident.evidence[0]
    assert any(": 45," in line for line in incident.evidence)


# ---- follow-ups ----


def test_45_follows_the_error_near_it_and_counts_for_nothing():
    incident = one(xid(62, 100.0), *(xid(45, 100.5 + n / 100, f"Ch 0000001{n}") for n in range(3)))
    assert judged(incident) == ("gpu.xid.62", Severity.FAIL, Rung.RESET_GPU)
    assert (incident.count, incident.detail["followers"]) == (1, {"gpu.xid.45": 3})


def test_45_alone_is_a_note_with_advice():
    incident = one(*(xid(45, n / 100, f"Ch {n:08x}") for n in range(400)))
    assert judged(incident) == ("gpu.xid.45", Severity.NOTE, Rung.PERSON)
    assert (incident.count, incident.detail["lines"]) == (1, 400)
    assert "fabric manager" in incident.reason


def test_45_an_hour_before_is_not_a_follow_up():
    codes = [incident.code for incident in fold([xid(45, 0.0), xid(62, 3600.0)], load())]
    assert codes == ["gpu.xid.45", "gpu.xid.62"]


def test_45_that_names_its_cause_follows_that_one_on_another_gpu():
    cause = xid(74, 10.0, "NVLink: fatal error detected on link 3", device="0000:2a:00")
    incidents = fold([cause, xid(45, 10.1, "Ch 00000008, caused by previous Xid 74")], load())
    assert [(incident.device, incident.code) for incident in incidents] == [("0000:2a:00", "gpu.xid.74")]
    alone = one(xid(45, 10.1, "Ch 00000008, caused by previous Xid 149"))
    assert "gpu.xid.149" in alone.reason


def test_without_times_the_text_is_one_burst():
    incident = one(xid(31, None, "MMU Fault"), xid(45, None), xid(45, None))
    assert (incident.code, incident.detail["followers"]) == ("gpu.xid.31", {"gpu.xid.45": 2})


def test_fallen_off_the_bus_takes_its_consequences_along():
    incident = one(
        xid(119, 9.0, "Timeout waiting for RPC"),
        xid(79, 10.0, "GPU has fallen off the bus."),
        xid(120, 10.2),
        Sighting(code="gpu.lost", device=GPU, uptime_s=11.0),
        xid(154, 11.0, "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"),
    )
    assert judged(incident) == ("gpu.xid.79", Severity.FAIL, Rung.REBOOT)
    assert incident.detail["lines"] == 5


def test_gsp_codes_are_one_halt():
    incident = one(xid(119, 1.0), xid(119, 7.0), xid(120, 8.0))
    assert judged(incident) == ("gpu.xid.120", Severity.FAIL, Rung.RESET_GPU)


def test_137_follows_the_link_that_went_down():
    incident = one(xid(74, 5.0, "link 2"), xid(137, 5.5))
    assert (incident.code, incident.detail["followers"]) == ("gpu.xid.74", {"gpu.xid.137": 1})
    assert one(xid(137, 5.5)).scope is Scope.APPLICATION


# ---- memory ----


@pytest.mark.parametrize(
    ("numbers", "leads", "severity", "remedy"),
    [
        ((48,), 48, Severity.FAIL, Rung.RESET_GPU),
        ((48, 63), 48, Severity.FAIL, Rung.RESET_GPU),
        ((63, 48), 48, Severity.FAIL, Rung.RESET_GPU),
        ((48, 64), 64, Severity.FAIL, Rung.RESET_GPU),
        ((94,), 94, Severity.SUSPECT, Rung.PERSON),
        ((94, 63), 94, Severity.SUSPECT, Rung.RESET_GPU),
        ((95,), 95, Severity.FAIL, Rung.RESET_GPU),
        ((94, 95), 95, Severity.FAIL, Rung.RESET_GPU),
        ((64, 94), 64, Severity.FAIL, Rung.RESET_GPU),
        ((48, 171), 48, Severity.FAIL, Rung.RESET_GPU),
        ((172,), 172, Severity.SUSPECT, Rung.RESET_GPU),
        ((63,), 63, Severity.SUSPECT, Rung.RESET_GPU),
    ],
)
def test_memory_codes_are_one_incident_under_the_gravest(numbers, leads, severity, remedy):
    incident = one(*(xid(number, 50.0 + at / 20) for at, number in enumerate(numbers)))
    assert judged(incident) == (f"gpu.xid.{leads}", severity, remedy)
    assert incident.count == 1


def test_no_spare_row_left_asks_for_a_replacement():
    failed = xid(64, 50.0, "Row Remapper Error: (0x00000001) - All reserved rows for bank are remapped")
    for sightings in (
        [failed],
        [failed, xid(94, 50.06)],
        [failed, _verdict("0x0 (None) to 0x1 (GPU Reset Required)", 51.0)],
    ):
        assert judged(one(*sightings)) == ("gpu.xid.64", Severity.FAIL, Rung.REPLACE)


def test_48_with_63_tells_to_drain_and_reset():
    assert "drain, then reset" in one(xid(48, 1.0), xid(63, 1.1)).reason


# ---- programs ----


@pytest.mark.parametrize("number", [31, 43])
def test_a_program_s_fault_that_returns_on_one_gpu_makes_it_a_suspect(number):
    twice = one(xid(number, 0.0), xid(number, 4000.0))
    assert (twice.scope, twice.severity) == (Scope.APPLICATION, Severity.NOTE)
    often = one(*(xid(number, 4000.0 * n) for n in range(3)))
    assert (often.scope, often.severity, often.detail["bursts"]) == (Scope.GPU, Severity.SUSPECT, 3)


def test_a_program_s_fault_on_several_gpus_is_the_program_s():
    lines = [xid(31, 4000.0 * n, device=device) for n in range(3) for device in (GPU, "0000:2a:00")]
    incidents = fold(lines, load())
    assert [(incident.severity, incident.scope) for incident in incidents] == [
        (Severity.NOTE, Scope.APPLICATION)
    ] * 2
    assert "several GPUs" in incidents[0].reason


def test_13_on_one_unit_or_on_several():
    same = one(*(xid(13, 100.0 * n, gpc=2, tpc=5) for n in range(3)))
    assert (same.severity, same.scope) == (Severity.SUSPECT, Scope.GPU)
    other = one(*(xid(13, 100.0 * n, gpc=n, tpc=5) for n in range(3)))
    assert (other.severity, other.scope) == (Severity.NOTE, Scope.APPLICATION)


def test_units_are_read_from_the_line_if_the_parser_did_not():
    lines = [xid(13, 100.0 * n, f"Graphics SM Warp Exception on (GPC {n}, TPC 5, SM 0)") for n in range(3)]
    assert "several units" in one(*lines).reason


def test_43_goes_with_the_program_s_fault():
    incident = one(xid(31, 1.0), xid(43, 1.1))
    assert (incident.code, incident.detail["followers"]) == ("gpu.xid.31", {"gpu.xid.43": 1})


# ---- the driver's own verdict ----


def _verdict(change, at=10.0, device=GPU):
    return xid(154, at, f"GPU recovery action changed from {change}", device=device)


@pytest.mark.parametrize(
    ("change", "branch", "code", "severity", "remedy"),
    [
        ("0x0 (None) to 0x1 (GPU Reset Required)", 0, "gpu.recovery.reset", Severity.FAIL, Rung.RESET_GPU),
        ("0x0 (None) to 0x2 (Node Reboot Required)", 0, "gpu.recovery.reboot", Severity.FAIL, Rung.REBOOT),
        ("0x0 (None) to 0x3 (Drain P2P)", 0, "gpu.recovery.drain", Severity.FAIL, Rung.RESET_GPU),
        ("0x0 (None) to 0x4 (Drain and Reset)", 0, "gpu.recovery.drain", Severity.FAIL, Rung.RESET_GPU),
        ("0x4 (Drain and Reset) to 0x1 (GPU Reset Required)", 0, "gpu.recovery.reset", Severity.FAIL, Rung.RESET_GPU),
        ("0x1 (GPU Reset Required) to 0x0 (None)", 0, "gpu.xid.154", Severity.NOTE, Rung.PERSON),
        ("0x0 to 0x2", 0, "gpu.recovery.reboot", Severity.FAIL, Rung.REBOOT),
        ("0x0 (None) to 0x5", 580, "gpu.recovery.reset", Severity.FAIL, Rung.RESET_GPU),
        ("0x0 (None) to 0x5", 610, "gpu.recovery.other", Severity.FAIL, Rung.PERSON),
        ("0x0 (None) to 0x7", 615, "gpu.recovery.reboot", Severity.FAIL, Rung.REBOOT),
        ("0x0 (None) to 0x7", 570, "gpu.recovery.other", Severity.FAIL, Rung.PERSON),
        ("0x0 (None) to 0x9 (Something New)", 0, "gpu.recovery.other", Severity.FAIL, Rung.PERSON),
    ],
)  # fmt: skip
def test_verdicts_by_word_and_by_number_and_branch(change, branch, code, severity, remedy):
    assert judged(one(_verdict(change), driver_branch=branch)) == (code, severity, remedy)


@pytest.mark.parametrize("given", [2, "0x2", "reboot", {"from": "none", "to": "node_reboot"}])
def test_a_verdict_that_the_parser_has_read(given):
    sighting = Sighting(code="gpu.xid.154", device=GPU, detail={"recovery": given})
    assert judged(one(sighting)) == ("gpu.recovery.reboot", Severity.FAIL, Rung.REBOOT)


def test_the_driver_s_verdict_outranks_the_table():
    reboot = _verdict("0x0 (None) to 0x2 (Node Reboot Required)", 10.5)
    assert judged(one(xid(62, 10.0), reboot)) == ("gpu.xid.62", Severity.FAIL, Rung.REBOOT)
    incident = one(xid(31, 10.0), reboot)
    assert (incident.code, incident.severity, incident.scope) == ("gpu.xid.31", Severity.FAIL, Scope.GPU)


def test_the_verdict_is_about_the_gravest_trouble_near_it_on_its_device():
    reset = _verdict("0x0 (None) to 0x1 (GPU Reset Required)", 11.0)
    other = xid(62, 10.0, device="0000:2a:00")
    incidents = {
        incident.code: incident for incident in fold([xid(31, 10.0), xid(48, 10.5), other, reset], load())
    }
    assert incidents["gpu.xid.48"].detail["recovery"] == "reset"
    assert "recovery" not in incidents["gpu.xid.31"].detail
    assert "recovery" not in incidents["gpu.xid.62"].detail


def test_the_last_verdict_counts():
    reset, none = "0x0 (None) to 0x1 (GPU Reset Required)", "0x1 (GPU Reset Required) to 0x0 (None)"
    healed = one(xid(62, 10.0), _verdict(reset, 10.1), _verdict(none, 900.0))
    assert (healed.code, healed.severity, healed.detail["recovery"]) == (
        "gpu.xid.62",
        Severity.SUSPECT,
        "none",
    )
    again = one(xid(62, 10.0), _verdict(reset, 10.1), _verdict(none, 11.0), _verdict(reset, 12.0))
    assert (again.severity, again.remedy) == (Severity.FAIL, Rung.RESET_GPU)
    drained = one(
        _verdict("0x0 (None) to 0x4 (Drain and Reset)", 1.0),
        _verdict("0x4 (Drain and Reset) to 0x2 (Node Reboot Required)", 900.0),
    )
    assert judged(drained) == ("gpu.recovery.reboot", Severity.FAIL, Rung.REBOOT)


def test_channels_taken_down_beside_a_verdict_do_not_carry_it():
    incident = one(xid(45, 1.0), _verdict("0x0 (None) to 0x1 (GPU Reset Required)", 1.1))
    assert judged(incident) == ("gpu.recovery.reset", Severity.FAIL, Rung.RESET_GPU)


# ---- links ----


def nvlink5(unit, word, intrinfo, status=0, link=1):
    words = " ".join(f"0x{value:08x}" for value in (intrinfo, status, 0, 0, 0, 0))
    return xid(149, 1.0, f"{unit}  {word}   XC0 i0 Link {link:02d} ({words})")


@pytest.mark.parametrize(
    ("sighting", "branch", "code", "severity", "scope"),
    [
        (nvlink5("NETIR_LINK_EVT", "Fatal", 0x025001C6), 0, "gpu.xid.149.netir_link_down.37", Severity.FAIL, Scope.FABRIC),
        (nvlink5("NETIR_LINK_EVT", "Fatal", 0x025001C6), 570, "gpu.xid.149.netir_link_down.37", Severity.FAIL, Scope.FABRIC),
        (nvlink5("NETIR_LINK_DOWN", "Fatal", 0x02500011), 575, "gpu.xid.149.netir_link_down.37", Severity.FAIL, Scope.FABRIC),
        (nvlink5("NETIR_BER_EVENT", "Nonfatal", 0x00086226, 1), 0, "gpu.xid.149.netir_ber_event.0x1", Severity.SUSPECT, Scope.LINK),
        (nvlink5("NETIR_NEW_EVENT", "Nonfatal", 0x0000003F), 0, "gpu.xid.149", Severity.SUSPECT, Scope.LINK),
        (nvlink5("NETIR_NEW_EVENT", "Fatal", 0x0000003F), 0, "gpu.xid.149", Severity.FAIL, Scope.LINK),
    ],
)  # fmt: skip
def test_nvlink5_by_sub_code_branch_and_word(sighting, branch, code, severity, scope):
    incident = one(sighting, driver_branch=branch)
    assert (incident.code, incident.severity, incident.scope) == (code, severity, scope)
    assert incident.detail["links"] == [1]


def test_the_gravest_of_several_error_bits_counts():
    incident = one(xid(144, 1.0, intrinfo=0b0000100001, error_status=0b1111), driver_branch=570)
    assert (incident.code, incident.severity) == ("gpu.xid.144.saw_mvb.0x2", Severity.FAIL)


def test_fields_that_the_parser_has_read_are_enough():
    detail = {
        "unit": "NETIR_LINK_EVT",
        "intrinfo": 0x025001C6,
        "error_status": "0x0",
        "fatal": True,
        "link": 7,
    }
    incident = one(Sighting(code="gpu.xid.149", device=GPU, detail=detail))
    assert (incident.code, incident.detail["links"]) == ("gpu.xid.149.netir_link_down.37", [7])


def test_the_far_end_is_named():
    assert "far end" in one(nvlink5("NETIR_LINK_EVT", "Fatal", 0x025001C6)).reason


def test_xid_74_names_link_register_and_bit():
    text = "NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)"
    incident = one(xid(74, 1.0, text))
    assert (incident.scope, incident.detail["links"], incident.detail["bits"]) == (
        Scope.LINK,
        [14],
        {"2": [16]},
    )
    assert "register 2, bit 16" in incident.reason
    assert incident.remedy is Rung.RESET_GPU
    again = one(xid(74, 1.0, text), xid(74, 500.0, text))
    assert again.remedy is Rung.VENDOR, "hardware bits that come back"


@pytest.mark.parametrize(
    ("number", "text", "severity", "remedy"),
    [
        (12028, "Non-fatal, Link 61 egress non-posted PRIV error (First)", Severity.SUSPECT, Rung.REBOOT),
        (20034, "Fatal, Link 30 LTSSM Fault Up", Severity.FAIL, Rung.REBOOT),
        (20034, "Non-fatal, Link 30 LTSSM Fault Up", Severity.SUSPECT, Rung.REBOOT),
        (22003, "Non-fatal, Link 30 Minion Halt", Severity.SUSPECT, Rung.REBOOT),
        (11012, "Fatal, Link 30 ingress", Severity.FAIL, Rung.REBOOT),
        (10003, "Fatal, Host_unhandled_interrupt", Severity.FAIL, Rung.REBOOT),
        (10003, "Host_unhandled_interrupt", Severity.FAIL, Rung.REBOOT),
        (99999, "Fatal, Link 3 unheard of", Severity.FAIL, Rung.REBOOT),
        (99999, "Link 3 unheard of", Severity.SUSPECT, Rung.REBOOT),
        (28002, "Non-fatal, thermal warning deactivated", Severity.NOTE, Rung.PERSON),
    ],
)
def test_the_word_in_the_sxid_line_outranks_the_table(number, text, severity, remedy):
    incident = one(sxid(number, text))
    assert (incident.severity, incident.remedy, incident.scope) in {
        (severity, remedy, Scope.FABRIC),
        (severity, remedy, Scope.UNKNOWN if number == 99999 and "Fatal" not in text else Scope.FABRIC),
    }


def test_one_sxid_in_three_lines_is_one_event_for_each_link():
    incident = one(
        sxid(20034, "Data {0x0000002b, 0x0000002b, 0x00000000}", 1.000),
        sxid(20034, "Non-fatal, Link 44 LTSSM Fault", 1.001),
        sxid(20034, "Severity 0 Engine instance 44 Sub-engine instance 00", 1.002),
        sxid(20034, "Non-fatal, Link 45 LTSSM Fault", 1.003),
    )
    assert (incident.count, incident.detail["links"], incident.severity) == (2, [44, 45], Severity.SUSPECT)


# ---- AMD ----


def amd(code, device, text, at=1.0):
    evidence = f"amdgpu {device}.0: {text}"
    return Sighting(code=f"gpu.amd.{code}", device=device, uptime_s=at, evidence=evidence)


def test_one_event_of_a_hive_is_about_the_first_gpu_that_tells_it():
    first = amd(
        "ras.uncorrectable", "0000:68:00", "{1}uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT)"
    )
    other = amd("aca", "0000:9e:00", "{1}[Hardware Error]: Accelerator Check Architecture events logged", 1.1)
    incident = one(first, other, other)
    assert (incident.device, incident.code) == ("0000:68:00", "gpu.amd.ras.uncorrectable")
    assert (incident.severity, incident.detail["lines"]) == (Severity.FAIL, 3)
    later = amd("aca", "0000:9e:00", "{2}[Hardware Error]: Accelerator Check Architecture events logged", 2.0)
    assert len(fold([first, later], load())) == 2


# ---- pairs ----


@pytest.mark.parametrize(
    ("numbers", "code", "severity"),
    [
        ((163,), "gpu.xid.163", Severity.SUSPECT),
        ((162,), "gpu.xid.162", Severity.NOTE),
        ((163, 162), "gpu.xid.163", Severity.NOTE),
        ((162, 163), "gpu.xid.163", Severity.SUSPECT),
        ((163, 162, 163), "gpu.xid.163", Severity.SUSPECT),
        ((163, 162, 163, 162), "gpu.xid.163", Severity.NOTE),
    ],
)
def test_what_began_and_ended_is_over(numbers, code, severity):
    incident = one(*(xid(number, 700.0 * at) for at, number in enumerate(numbers)))
    assert (incident.code, incident.severity, incident.detail["lines"]) == (code, severity, len(numbers))


def test_the_switch_s_heat_is_a_pair_too():
    began, ended = sxid(10004, "Link 3 thermal event start", 1.0), sxid(10005, "thermal event end", 90.0)
    assert one(began).severity is Severity.SUSPECT
    assert judged(one(began, ended)) == ("nvswitch.sxid.10004", Severity.NOTE, Rung.PERSON)


def test_another_gpu_s_end_ends_nothing():
    incidents = fold([xid(163, 1.0), xid(162, 2.0, device="0000:2a:00")], load())
    assert [incident.severity for incident in incidents] == [Severity.SUSPECT, Severity.NOTE]


# ---- others ----


@pytest.mark.parametrize(
    ("count", "text", "severity", "remedy"),
    [
        (1, "", Severity.SUSPECT, Rung.PERSON),
        (10, "", Severity.SUSPECT, Rung.REPLACE),
        (2, "OVERFLOW", Severity.SUSPECT, Rung.REPLACE),
        (262, "OVERFLOW", Severity.FAIL, Rung.REPLACE),
    ],
)
def test_corrected_memory_errors_by_their_number(count, text, severity, remedy):
    incident = one(Sighting(code="host.edac.ce", device="DIMM#0", count=count, evidence=f"{count} CE {text}"))
    assert (incident.severity, incident.remedy) == (severity, remedy)


def test_the_bus_s_own_word_fatal_counts():
    fatal, calm = (
        one(Sighting(code=f"pcie.aer.{word}.surprise_down", device="0000:00:03"))
        for word in ("fatal", "nonfatal")
    )
    assert (fatal.severity, fatal.remedy) == (Severity.FAIL, Rung.REBOOT)
    assert calm.severity is Severity.SUSPECT


def test_unknown_codes_are_suspects_with_a_reason():
    incident = one(Sighting(code="gpu.xid.4711", device=GPU, evidence="a fatal new thing"))
    assert (incident.severity, incident.scope) == (Severity.SUSPECT, Scope.UNKNOWN)
    assert "does not know" in incident.reason


def test_a_site_s_catalogue_is_used(tmp_path):
    path = tmp_path / "site.toml"
    path.write_text(
        '["gpu.xid.79"]\nremedy = "replace"\ncomment = "they never come back here"\n', encoding="utf-8"
    )
    (incident,) = fold([xid(79, 1.0)], load([path]))
    assert (incident.remedy, incident.source) == (Rung.REPLACE, f"site: {path}")
