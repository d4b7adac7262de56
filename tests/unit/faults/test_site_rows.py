from __future__ import annotations

import pytest

from greenroom.faults import CatalogueWrong, load
from greenroom.model.sightings import Scope
from greenroom.model.words import Rung, Severity


def site(tmp_path, text, name="site.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_site_changes_a_row_and_says_why(tmp_path):
    path = site(tmp_path, '["gpu.xid.63"]\nseverity = "note"\ncomment = "weekly window"\n')
    fault = load([path])["gpu.xid.63"]
    ours = load()["gpu.xid.63"]
    assert (fault.severity, fault.comment, fault.source) == (Severity.NOTE, "weekly window", f"site: {path}")
    assert (fault.meaning, fault.remedy, fault.scope) == (ours.meaning, ours.remedy, ours.scope)
    assert ours.severity is Severity.SUSPECT, "our own catalogue is not touched"


def test_a_site_adds_a_fault_of_its_own(tmp_path):
    text = (
        '["site.chiller"]\nmeaning = "chiller off"\npart = "host"\nseverity = "fail"\nremedy = "person"\n'
        'scope = "node"\ncomment = "rack 7"\n'
    )
    faults = load([site(tmp_path, text)])
    assert faults["site.chiller"].remedy is Rung.PERSON
    assert "site.chiller" in list(faults)
    assert len(faults) == len(load()) + 1


def test_a_later_file_is_laid_over_an_earlier(tmp_path):
    one = site(tmp_path, '["gpu.xid.63"]\nseverity = "note"\nremedy = "reboot"\ncomment = "a"\n', "a.toml")
    two = site(tmp_path, '["gpu.xid.63"]\nseverity = "fail"\ncomment = "b"\n', "b.toml")
    fault = load([one, two])["gpu.xid.63"]
    assert (fault.severity, fault.remedy, fault.comment) == (Severity.FAIL, Rung.REBOOT, "b")


def test_scope_may_change_with_the_severity(tmp_path):
    path = site(tmp_path, '["gpu.xid.31"]\nseverity = "fail"\nscope = "gpu"\ncomment = "bad batch"\n')
    assert load([path])["gpu.xid.31"].scope is Scope.GPU


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('\n["gpu.xid.63"]\nseverity = "note"\n', ":2: gpu.xid.63.comment: missing"),
        ('["gpu.xid.63"]\ncomment = "x"\nseverity = "fatal"\n', ":3: gpu.xid.63.severity: expected one of note"),
        ('["gpu.xid.63"]\ncomment = "x"\nremedy = 3\n', ":3: gpu.xid.63.remedy: expected one of restart-service"),
        ('["gpu.xid.63"]\ncomment = "x"\nseverty = "note"\n', ":3: gpu.xid.63.severty: unknown key; did you mean sev"),
        ('["gpu.xid.63"]\ncomment = " "\n', ":2: gpu.xid.63.comment: expected a text"),
        ('["gpu.xid.63"]\ncomment = "x"\npart = "wheel"\n', ":3: gpu.xid.63.part: expected one of gpu, cpu"),
        ('["gpu.xid.63"]\ncomment = "x"\narchitectures = "hopper"\n', ":3: gpu.xid.63.architectures: expected a list"),
        ('["gpu.mising"]\ncomment = "x"\nseverity = "note"\n', ":1: gpu.mising: no such fault; did you mean gpu.missing"),
        ('["gpu.xid.79"]\ncomment = "x"\n["gpu.xid.31"]\ncomment = "y"\nseverity = "fail"\n', ":5: gpu.xid.31.severity"),
        ('"gpu.xid.79" = "note"\n', ":1: gpu.xid.79: expected a table"),
        ('["gpu.xid.79"\n', "not valid TOML"),
        ('["gpu.xid.79"]\nseverity = "note"\n["gpu.xid.31"]\ncomment = "y"\n', ":1: gpu.xid.79.comment: missing"),
        (None, "No such file"),
    ],
)  # fmt: skip
def test_mistakes_name_file_line_and_field(tmp_path, text, says):
    path = site(tmp_path, text) if text is not None else tmp_path / "none.toml"
    with pytest.raises(CatalogueWrong) as error:
        load([path])
    assert str(error.value).startswith(str(path))
    assert says in str(error.value)
