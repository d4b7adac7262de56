from __future__ import annotations

import pytest

from greenroom.faults import load, lookup
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
