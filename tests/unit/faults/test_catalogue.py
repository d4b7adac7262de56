from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from shared_data import shared_table

from greenroom.faults import FAMILIES, Clears, codes, load, lookup, resolve
from greenroom.faults.docs import ABOUT, pages
from greenroom.faults.families import homes, read
from greenroom.model.sightings import Scope
from greenroom.model.words import Rung, Severity

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs" / "faults"


@pytest.mark.parametrize("code", load())
def test_a_row_is_whole(code):
    fault = load()[code]
    assert fault.code == code
    assert fault.meaning
    assert fault.part in {"gpu", "cpu", "memory", "disk", "nic", "host"}
    assert fault.source
    assert fault.source_version
    assert bool(fault.other_sources) == bool(fault.choice), (
        "sources that disagree need our choice, and the reverse"
    )
    assert not (fault.scope is Scope.APPLICATION and fault.severity is Severity.FAIL), (
        "a program fails no node"
    )
    assert not (fault.severity is Severity.FAIL and fault.clears is Clears.NONE), "a failure must end somehow"
    assert fault.family in homes(code), "no code may hide from the family that has it"


def test_no_code_stands_in_two_families():
    seen = Counter(code for family in FAMILIES for code in read(family))
    assert [code for code, times in seen.items() if times > 1] == []


@pytest.mark.parametrize(
    ("code", "severity", "remedy"),
    [
        ("gpu.missing", Severity.FAIL, Rung.REBOOT),
        ("gpu.row_remap.pending", Severity.FAIL, Rung.RESET_GPU),
        ("gpu.row_remap.failure", Severity.FAIL, Rung.REPLACE),
        ("gpu.ecc.uncorrectable", Severity.FAIL, Rung.REBOOT),
        ("gpu.xid.79", Severity.FAIL, Rung.REBOOT),
        ("gpu.xid.43", Severity.NOTE, Rung.PERSON),
        ("nvswitch.sxid.22003", Severity.FAIL, Rung.REBOOT),
        ("dcgm.85", Severity.FAIL, Rung.RESET_GPU),
        ("dcgm.122", Severity.NOTE, Rung.PERSON),
        ("nvml.16", Severity.FAIL, Rung.RESET_GPU),
        ("host.edac.ue", Severity.FAIL, Rung.REPLACE),
    ],
)
def test_what_others_rely_on(code, severity, remedy):
    assert (lookup(code).severity, lookup(code).remedy) == (severity, remedy)


@pytest.mark.parametrize(
    "code",
    [
        "gpu.xid.9999",
        "nvswitch.sxid.99999",
        "dcgm.999",
        "nvml.77",
        "gpu.amd.ras_new",
        "made.up",
        "",
        "x",
        "a..b",
    ],
)
def test_unknown_code_is_a_suspect_never_a_failure(code):
    fault = lookup(code)
    assert fault.severity is Severity.SUSPECT
    assert fault.part == code.split(".")[0]
    assert fault.source == "not in the catalogue"


def test_a_code_takes_the_row_of_its_longest_beginning():
    fault = lookup("ib.errors.symbol_error_counter")
    assert fault.code == "ib.errors.symbol_error_counter"
    assert fault.meaning == load()["ib.errors"].meaning
    assert resolve("gpu.xid.149.not_in_the_sheet", load()).meaning == load()["gpu.xid.149"].meaning
    assert "ib.errors.symbol_error_counter" not in load()


def test_every_xid_and_sxid_of_the_tables_has_a_row():
    rows = shared_table("xid.csv")
    assert len(rows) == 266
    prefix = {"xid": "gpu.xid.", "sxid": "nvswitch.sxid."}
    missing = [row["code"] for row in rows if prefix[row["kind"]] + row["code"] not in load()]
    assert missing == []


# The first action of NVIDIA's table -> the severities that it may have here.
MAY_BE = {
    "RESTART_APP": {"note", "suspect"},
    "IGNORE": {"note", "suspect"},
    "RESET_GPU": {"fail", "suspect"},
    "RESTART_BM": {"fail"},
    "RESTART_VM": {"fail"},
    "CHECK_MECHANICALS": {"fail"},
    "CONTACT_SUPPORT": {"suspect"},
    "UPDATE_SWFW": {"suspect"},
}


def test_severity_follows_the_action_of_the_table():
    for row in shared_table("xid-compare.csv"):
        allowed = MAY_BE.get(row["catalog_immediate"])
        fault = load()[f"gpu.xid.{row['code']}"]
        if allowed:
            assert fault.severity in allowed, row
        applies = row["applies_A100_H100_B100_GB200"]
        if applies == "NNNN" and row["catalog_immediate"] != "IGNORE":
            assert fault.architectures == ("pre-ampere",), row


def test_a_peer_that_fails_what_we_do_not_is_written_down():
    for row in shared_table("xid-compare.csv"):
        fault = load()[f"gpu.xid.{row['code']}"]
        if row["gpud_event_type"] == "Fatal" and fault.severity is not Severity.FAIL:
            assert any(other.source.startswith("gpud") for other in fault.other_sources), row


def test_always_fatal_and_non_fatal_sxids():
    for row in shared_table("xid.csv"):
        if row["kind"] == "sxid":
            severity = load()[f"nvswitch.sxid.{row['code']}"].severity
            assert (severity is Severity.FAIL) == ("always-fatal" in row["summary_own_words"]), row


def test_dcgm_ids_are_without_a_gap_and_name_their_constant():
    ids = sorted(int(code.split(".")[1]) for code in codes("dcgm") if code.split(".")[1].isdigit())
    assert ids == list(range(1, 133))
    named = [code for code in codes("dcgm") if re.search(r"\([A-Z0-9_]+\)$", load()[code].meaning)]
    assert len(named) == 131  # the name of 124 is not in our source


def test_nvml_return_codes_are_those_of_the_binding():
    pynvml = pytest.importorskip("pynvml")
    numbers = {value for name, value in vars(pynvml).items() if re.fullmatch(r"NVML_ERROR_[A-Z_]+", name)}
    assert {f"nvml.{number}" for number in numbers} == codes("nvml")


def test_asking_for_one_code_reads_its_family_only():
    program = (
        "from greenroom.faults import families, lookup\n"
        "assert lookup('dcgm.85').family == 'dcgm'\n"
        "print(families.raw.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


def test_docs_name_every_family_and_are_the_generated_ones():
    assert set(ABOUT) == set(FAMILIES)
    on_disk = {path.name: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}
    assert on_disk == pages(), "run: python -m greenroom.faults.docs docs/faults"
