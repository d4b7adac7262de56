"""Sightings are folded by device and code; the catalogue judges."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from greenroom.faults import load
from greenroom.model.sightings import Scope, Sighting
from greenroom.model.words import Rung, Severity
from greenroom.policy.incidents import fold


def seen(code, device="0000:41:00", **rest):
    return Sighting(code=code, device=device, evidence=f"{code} line", **rest)


def test_lines_of_one_trouble_are_one_incident_and_the_gravest_comes_first():
    incidents = fold(
        [
            seen("gpu.xid.13", when="10:00"),
            seen("gpu.xid.79", when="10:01"),
            seen("gpu.xid.13", when="10:02"),
            seen("gpu.xid.13", device="0000:42:00"),
        ],
        load(),
    )
    assert [(one.code, one.device, one.count) for one in incidents] == [
        ("gpu.xid.79", "0000:41:00", 1),
        ("gpu.xid.13", "0000:41:00", 2),
        ("gpu.xid.13", "0000:42:00", 1),
    ]
    grave, user = incidents[:2]
    assert (grave.scope, grave.severity, grave.remedy) == (Scope.GPU, Severity.FAIL, Rung.REBOOT)
    assert (user.scope, user.severity) == (Scope.APPLICATION, Severity.NOTE)
    assert (user.first, user.last) == ("10:00", "10:02")


def test_an_unknown_code_is_suspect_never_ignored_and_never_grave():
    (one,) = fold([seen("gpu.xid.9999")], load())
    assert (one.severity, one.scope) == (Severity.SUSPECT, Scope.UNKNOWN)


CODES = st.sampled_from(["gpu.xid.13", "gpu.xid.79", "nvswitch.sxid.1", "what.ever"])
SIGHTINGS = st.lists(st.builds(seen, CODES, st.sampled_from(["a", "b", ""]), count=st.integers(1, 5)))


@given(SIGHTINGS)
def test_no_sighting_is_lost_and_each_trouble_is_told_once(sightings):
    incidents = fold(sightings, load())
    assert sum(one.count for one in incidents) == sum(one.count for one in sightings)
    assert len({(one.device, one.code) for one in incidents}) == len(incidents)
    assert all(len(one.evidence) <= 5 for one in incidents)
