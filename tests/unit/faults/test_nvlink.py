from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import shared_table

from greenroom.faults import load
from greenroom.faults.nvlink import decode_nvlink5, decode_xid74
from greenroom.model.words import Severity

BRANCHES = {"intrinfo_mask_V1_lt_R575": 570, "intrinfo_mask_V2_ge_R575": 580}


def fill(mask, rng):
    """A number that fits the mask: its dashes are bits of which nothing is said."""
    return int("".join(rng.choice("01") if bit == "-" else bit for bit in mask), 2)


@pytest.mark.parametrize("column", BRANCHES)
def test_every_row_of_the_sheet_is_found_in_its_branch(column):
    rng = random.Random(3)
    rows = shared_table("xid-nvlink5.csv")
    assert len(rows) == 95
    for row in rows:
        for status in (row["error_status_hex"] or "0x0").split("/"):
            found = decode_nvlink5(
                int(row["xid"]), fill(row[column], rng), int(status, 16), driver_branch=BRANCHES[column]
            )
            assert found, row
            fails = any(load()[one.code].severity is Severity.FAIL for one in found)
            assert fails == (row["immediate"] == "RESET_GPU"), row
            assert {one.code.split(".")[2] for one in found} == {row["xid"]}


def test_the_branch_decides_between_the_forms():
    old, new = 0x025001C6, 37 << 20 | 0b0010001
    cause = "gpu.xid.149.netir_link_down.37"
    assert [one.code for one in decode_nvlink5(149, old, 0, driver_branch=570)] == [cause]
    assert decode_nvlink5(149, old, 0, driver_branch=575) == []
    assert [one.code for one in decode_nvlink5(149, new, 0, driver_branch=575)] == [cause]
    assert decode_nvlink5(149, new, 0, driver_branch=574) == []
    assert [one.code for one in decode_nvlink5(149, old, 0)] == [cause]
    assert [one.code for one in decode_nvlink5(149, new, 0)] == [cause]


def test_the_name_in_the_line_chooses_between_units_of_one_mask():
    both = {one.code for one in decode_nvlink5(150, 0, 0, driver_branch=580)}
    assert both == {"gpu.xid.150.mse_degraded", "gpu.xid.150.mse_watchdog"}
    named = decode_nvlink5(150, 0, 0, driver_branch=580, unit="MSE_WATCHDOG")
    assert [one.code for one in named] == ["gpu.xid.150.mse_watchdog"]


def test_the_pipes_of_a_unit_have_names_since_r575():
    old = decode_nvlink5(146, 0b0101000011, 0x4, driver_branch=570)
    new = decode_nvlink5(146, 0b0001011, 0x4, driver_branch=580)
    assert [(one.code, one.label) for one in old] == [("gpu.xid.146.tlw_rx.0x4", "TLW_RX")]
    assert [(one.code, one.label) for one in new] == [("gpu.xid.146.tlw_rx.0x4", "TLW_RX_PIPE1")]


def test_a_cause_belongs_to_a_link_down_only():
    noisy = 0b1000100110
    assert decode_nvlink5(149, noisy, 1, driver_branch=570)
    assert decode_nvlink5(149, 5 << 20 | noisy, 1, driver_branch=570) == []


def test_several_error_bits_are_several_codes():
    found = decode_nvlink5(144, 0b0000100001, 0b11, driver_branch=570)
    assert [one.code for one in found] == ["gpu.xid.144.saw_mvb.0x1", "gpu.xid.144.saw_mvb.0x2"]


@given(
    st.integers(0, 200),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(0, 700),
    st.text(max_size=20),
)
def test_any_numbers_give_known_codes_or_none(xid, intrinfo, status, branch, unit):
    for one in decode_nvlink5(xid, intrinfo, status, driver_branch=branch, unit=unit):
        assert one.code in load()


@pytest.mark.parametrize(
    ("registers", "register", "bits", "hardware"),
    [
        ([0, 0, 0x10000, 0, 0, 0, 0], 2, (16,), True),
        ([1 << 21 | 1 << 22, 0, 0, 0, 0, 0, 0], 0, (21, 22), False),
        ([1 << 4, 0, 0, 0, 0, 0, 0], 0, (4,), True),
        ([0, 0, 0, 1 << 18, 0, 0, 0], 3, (18,), True),
        ([0, 0, 0, 0, 1 << 20, 0, 0], 4, (20,), True),
    ],
)
def test_registers_of_xid_74(registers, register, bits, hardware):
    (found,) = decode_xid74(registers)
    assert (found.register, found.bits, found.hardware) == (register, bits, hardware)
    assert found.says


def test_registers_that_say_nothing():
    assert decode_xid74([0] * 7) == []
    assert decode_xid74([1 << 30, 0xFFFFFFFF]) == []
    assert decode_xid74([]) == []
