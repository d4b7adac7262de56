from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from greenroom.faults import load, lookup
from greenroom.model.sightings import Scope
from greenroom.model.words import Rung, Severity


@pytest.mark.parametrize("code", load())
def test_a_row_is_whole(code):
    fault = load()[code]
    assert fault.code == code
    assert fault.meaning
    assert fault.part in {"gpu", "cpu", "memory", "disk", "nic", "host"}
    assert fault.source


@pytest.mark.parametrize(
    ("code", "severity", "remedy"),
    [
        ("gpu.missing", Severity.FAIL, Rung.REBOOT),
        ("gpu.row_remap.pending", Severity.FAIL, Rung.RESET_GPU),
        ("gpu.row_remap.failure", Severity.FAIL, Rung.REPLACE),
        ("gpu.ecc.uncorrectable", Severity.FAIL, Rung.REBOOT),
        ("gpu.xid.79", Severity.FAIL, Rung.REBOOT),
        ("gpu.xid.43", Severity.NOTE, Rung.PERSON),
    ],
)
def test_what_others_rely_on(code, severity, remedy):
    assert (lookup(code).severity, lookup(code).remedy) == (severity, remedy)


def test_unknown_code_is_a_suspect_never_a_failure():
    fault = lookup("gpu.xid.9999")
    assert fault.severity is Severity.SUSPECT
    assert fault.part == "gpu"


SHARED = Path(os.environ.get("GREENROOM_SHARED", Path(__file__).parents[4] / "shared"))
TABLE = SHARED / "data/xid.csv"


@pytest.mark.skipif(not TABLE.exists(), reason="the tables of Xids are not beside this checkout")
def test_every_xid_and_sxid_of_the_tables_is_there():
    with TABLE.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = {"xid": "gpu.xid", "sxid": "nvswitch.sxid"}
    missing = {f"{names[row['kind']]}.{row['code']}" for row in rows} - set(load())
    assert len(rows) > 200
    assert missing == set()


def test_families_say_what_single_rows_say_and_more():
    lost = lookup("gpu.xid.79")
    assert (lost.part, lost.scope, lost.severity, lost.remedy) == (
        "gpu",
        Scope.GPU,
        Severity.FAIL,
        Rung.REBOOT,
    )
    assert lost.source_version
    assert lookup("gpu.xid.13").scope is Scope.APPLICATION
    assert lookup("nvswitch.sxid.20034").scope in (Scope.FABRIC, Scope.LINK)
    assert any(fault.other_sources and fault.choice for fault in load().values())
    assert all(fault.choice for fault in load().values() if fault.other_sources)


def test_a_counter_is_judged_as_its_family_and_keeps_its_name():
    fault = lookup("ib.errors.symbol_error")
    assert (fault.code, fault.severity, fault.scope) == (
        "ib.errors.symbol_error",
        Severity.SUSPECT,
        Scope.LINK,
    )
    assert lookup("gpu.xid.9999").scope is Scope.UNKNOWN
    assert lookup("no.such.thing").source == "not in the catalogue"
