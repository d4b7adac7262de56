"""Sightings are folded by device and code; the catalogue judges."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from greenroom.faults import load
from greenroom.model.sightings import Scope, Sighting
from greenroom.model.words import Rung, Severity
from greenroom.policy.incidents import blame, fold


def seen(code, device="0000:41:00", **rest):
    return Sighting(code=code, device=device, evidence=f"{code} line", **rest)


def test_lines_of_one_trouble_are_one_incident():
    incidents = fold(
        [
            seen("gpu.xid.13", when="10:00"),
            seen("gpu.xid.79", device="0000:43:00", when="10:01"),
            seen("gpu.xid.13", when="10:02"),
            seen("gpu.xid.13", device="0000:42:00"),
        ],
        load(),
    )
    by = {(one.code, one.device): one for one in incidents}
    assert set(by) == {
        ("gpu.xid.13", "0000:41:00"),
        ("gpu.xid.79", "0000:43:00"),
        ("gpu.xid.13", "0000:42:00"),
    }
    grave, user = by["gpu.xid.79", "0000:43:00"], by["gpu.xid.13", "0000:41:00"]
    assert (grave.scope, grave.severity, grave.remedy) == (Scope.GPU, Severity.FAIL, Rung.REBOOT)
    assert (user.scope, user.severity) == (Scope.APPLICATION, Severity.NOTE)
    assert (user.first, user.last, user.detail["lines"]) == ("10:00", "10:02", 2)
    assert "several GPUs report the same" in user.reason


def test_what_follows_another_report_is_folded_under_it():
    """A channel torn down (45) right after the GPU's own trouble is no trouble of its own."""
    lines = [seen("gpu.xid.48", uptime_s=100.0), seen("gpu.xid.45", uptime_s=100.1)]
    (one,) = fold(lines, load())
    assert (one.code, one.detail["followers"]) == ("gpu.xid.48", {"gpu.xid.45": 1})
    alone = fold([seen("gpu.xid.45", uptime_s=100.0)], load())
    assert [one.code for one in alone] == ["gpu.xid.45"]


def test_many_corrected_memory_errors_call_for_a_replacement():
    few, many = (fold([seen("host.edac.ce", device="dimm_a1", count=count)], load())[0] for count in (2, 200))
    assert few.severity is not Severity.FAIL
    assert (many.severity, many.remedy) == (Severity.FAIL, Rung.REPLACE)


def test_an_unknown_code_is_suspect_never_ignored_and_never_grave():
    (one,) = fold([seen("gpu.xid.9999")], load())
    assert one.severity is Severity.SUSPECT


CODES = st.sampled_from(["gpu.xid.13", "gpu.xid.79", "nvswitch.sxid.1", "what.ever"])
SIGHTINGS = st.lists(st.builds(seen, CODES, st.sampled_from(["a", "b", ""]), count=st.integers(1, 5)))


@given(SIGHTINGS)
def test_every_sighting_lands_in_exactly_one_incident(sightings):
    incidents = fold(sightings, load())
    assert sum(one.detail["lines"] for one in incidents) == len(sightings)
    assert all(len(one.evidence) <= 5 and one.reason for one in incidents)
    assert fold(sightings, load()) == incidents


def test_one_job_that_crashes_on_many_nodes_blames_the_job():
    by_node = {f"n{i}": fold([seen("gpu.xid.31")], load()) for i in range(4)}
    told = blame(by_node, {"77": set(by_node)})
    assert "77" in str(told)
    hardware = {f"n{i}": fold([seen("gpu.xid.79")], load()) for i in range(4)}
    assert "77" not in str(blame(hardware, {"77": set(hardware)}))  # broken hardware is never excused
