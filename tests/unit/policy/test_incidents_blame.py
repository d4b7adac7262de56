from __future__ import annotations

import pytest

from greenroom.faults import load
from greenroom.model.sightings import Scope, Sighting
from greenroom.model.words import Severity
from greenroom.policy.incidents import blame, fold


def node(code, at=None, **detail):
    sighting = Sighting(code=code, device="0000:1a:00", at=at, detail=detail, evidence=f"a line of {code}")
    return fold([sighting], load())


def test_a_job_that_crashes_on_77_nodes_is_one_incident_and_no_node_s():
    nodes = [f"n{number:03d}" for number in range(77)]
    told = {name: node("gpu.xid.45", at=1_000.0 + number) for number, name in enumerate(nodes)}
    jobs = {"4711": frozenset({*nodes, *(f"m{number}" for number in range(211))})}
    blamed = blame(told, jobs)
    assert all(blamed.nodes[name] == () for name in nodes)
    (incident,) = blamed.jobs
    assert (incident.device, incident.code, incident.count) == ("job:4711", "gpu.xid.45", 77)
    assert (incident.scope, incident.severity) == (Scope.APPLICATION, Severity.NOTE)
    assert incident.detail["nodes"] == nodes
    assert incident.detail["lines"] == 77
    assert "77 of its 288 nodes" in incident.reason


@pytest.mark.parametrize("code", ["gpu.xid.79", "gpu.xid.48", "gpu.xid.95", "gpu.xid.64", "gpu.xid.74"])
def test_broken_hardware_is_never_excused(code):
    told = {name: node(code, at=1.0) for name in "abcde"}
    blamed = blame(told, {"1": frozenset("abcde")})
    assert blamed.jobs == ()
    assert blamed.nodes == {name: tuple(incidents) for name, incidents in told.items()}


@pytest.mark.parametrize(
    ("hit", "size", "expected"), [(1, 1, False), (1, 8, False), (2, 2, True), (2, 3, False), (3, 8, True)]
)
def test_how_many_nodes_it_takes(hit, size, expected):
    names = [f"n{number}" for number in range(size)]
    told = {name: node("gpu.xid.31", at=5.0) if at < hit else [] for at, name in enumerate(names)}
    blamed = blame(told, {"1": frozenset(names)})
    assert bool(blamed.jobs) == expected
    assert set(blamed.nodes) == set(names)
    assert sum(map(len, blamed.nodes.values())) == (0 if expected else hit)


def test_nodes_of_different_jobs_are_not_one_crash():
    told = {name: node("gpu.xid.31", at=5.0) for name in "abc"}
    blamed = blame(told, {"1": frozenset("ax"), "2": frozenset("by"), "3": frozenset("cz")})
    assert blamed.jobs == ()


def test_hours_apart_is_not_one_crash():
    told = {name: node("gpu.xid.31", at=5_000.0 * number) for number, name in enumerate("abc")}
    assert blame(told, {"1": frozenset("abc")}).jobs == ()


def test_different_codes_are_not_one_crash():
    told = {"a": node("gpu.xid.31"), "b": node("gpu.xid.13"), "c": node("gpu.xid.45")}
    assert blame(told, {"1": frozenset("abc")}).jobs == ()


def test_a_sick_gpu_among_a_job_s_crash_stays_with_its_node():
    told = {name: node("gpu.xid.31", at=5.0) for name in "abcd"}
    told["d"] = [*told["d"], *node("gpu.xid.79", at=4.0)]
    blamed = blame(told, {"1": frozenset("abcd")})
    assert [incident.code for incident in blamed.nodes["d"]] == ["gpu.xid.79"]
    assert [incident.count for incident in blamed.jobs] == [4]


def test_a_hang_of_all_nodes_is_the_job_s_unless_the_driver_wants_a_reset():
    told = {name: node("gpu.xid.109", at=5.0) for name in "abc"}
    assert len(blame(told, {"1": frozenset("abc")}).jobs) == 1
    reset = Sighting(code="gpu.xid.154", device="0000:1a:00", at=5.1, detail={"recovery": "gpu_reset"})
    hang = Sighting(code="gpu.xid.109", device="0000:1a:00", at=5.0)
    told = {name: fold([hang, reset], load()) for name in "abc"}
    assert blame(told, {"1": frozenset("abc")}).jobs == ()


def test_a_job_on_nodes_that_say_nothing_is_nobody_s_fault():
    blamed = blame({"a": []}, {"1": frozenset({"a", "gone"}), "2": frozenset()})
    assert (blamed.nodes, blamed.jobs) == ({"a": ()}, ())
