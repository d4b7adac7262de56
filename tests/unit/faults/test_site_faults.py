"""A site's own word on faults, and the numbers behind NVLink reports."""

from __future__ import annotations

import pytest

from greenroom.faults import CatalogueWrong, load, lookup
from greenroom.faults.families import raw
from greenroom.faults.nvlink import decode_nvlink5, decode_xid74
from greenroom.model.sightings import Scope
from greenroom.model.words import Rung, Severity


def site(tmp_path, text):
    path = tmp_path / "faults.toml"
    path.write_text(text)
    return path


def test_a_site_changes_a_row_and_adds_one(tmp_path):
    path = site(
        tmp_path,
        '["gpu.xid.63"]\nseverity = "note"\ncomment = "resets wait for the weekend"\n'
        '["site.fan"]\nmeaning = "fan tray"\npart = "host"\nseverity = "fail"\nremedy = "replace"\ncomment = "ours"\n',
    )
    faults = load([path])
    assert faults["gpu.xid.63"].severity is Severity.NOTE
    assert faults["gpu.xid.63"].remedy is lookup("gpu.xid.63").remedy
    assert faults["gpu.xid.63"].source == f"site: {path}"
    assert faults["site.fan"].remedy is Rung.REPLACE
    assert faults["gpu.xid.79"] == lookup("gpu.xid.79")
    assert "site.fan" not in load()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('["gpu.xid.63"]\nseverity = "note"\n', 1, ["gpu.xid.63.comment", "missing: say why"]),
        (
            '["gpu.xid.63"]\ncomment = "x"\nseverity = "bad"\n',
            3,
            ["severity", "note, suspect, fail", "'bad'"],
        ),
        ('["gpu.xid.63"]\ncomment = "x"\nseverty = "note"\n', 3, ["severty", "did you mean severity"]),
        ('["gpu.xid.9999"]\ncomment = "x"\n', 1, ["no such fault", "a new one needs"]),
        ('["gpu.xid.63"]\ncomment = ""\n', 2, ["comment", "expected a text"]),
        ('["gpu.xid.13"]\ncomment = "x"\nseverity = "fail"\n', 3, ["scope application never fails a node"]),
        ('"gpu.xid.63" = 3\n', 1, ["expected a table"]),
    ],
)
def test_a_wrong_row_is_told_with_file_line_and_field(tmp_path, text, line, words):
    path = site(tmp_path, text)
    with pytest.raises(CatalogueWrong) as caught:
        load([path])
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert all(word in str(caught.value) for word in words), caught.value


UNITS = raw("nvlink5")["unit"]


@pytest.mark.parametrize("name", [name for name, unit in UNITS.items() if unit["by"] == "bits"])
@pytest.mark.parametrize(("form", "branch"), [("v1", 570), ("v2", 580)])
def test_a_sub_code_is_decoded_by_driver_branch(name, form, branch):
    unit = UNITS[name]
    value = next(iter(unit[form].values()))
    known = [code for code in load() if code.startswith(f"gpu.xid.{unit['xid']}.{name}.0x")]
    assert known
    for code in known:
        status = int(code.rpartition(".")[2], 16)
        found = {one.code for one in decode_nvlink5(unit["xid"], value, status, driver_branch=branch)}
        assert code in found


def test_numbers_of_no_row_mean_nothing():
    assert decode_nvlink5(144, 0x3FF, 0, driver_branch=580) == []
    assert decode_xid74([0] * 7) == []
    assert decode_xid74([]) == []


def test_the_registers_of_xid_74_say_something():
    row = raw("xid74")["bits"][0]
    registers = [0] * 7
    registers[row["register"]] = 1 << row["bits"][0]
    assert row["says"] in [one.says for one in decode_xid74(registers)]


def test_application_faults_never_fail_a_node():
    assert not [f for f in load().values() if f.scope is Scope.APPLICATION and f.severity is Severity.FAIL]
