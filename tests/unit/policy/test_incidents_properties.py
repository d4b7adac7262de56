from __future__ import annotations

import time

from hypothesis import example, given, settings
from hypothesis import strategies as st

from greenroom.faults import load
from greenroom.model.sightings import Incident, Scope, Sighting
from greenroom.model.words import Severity
from greenroom.policy.incidents import MAX_EVIDENCE, fold

NUMBERS = (13, 31, 43, 45, 48, 62, 63, 64, 74, 79, 94, 95, 119, 120, 137, 149, 154, 159, 162, 163, 171, 9999)
CODES = st.one_of(
    st.sampled_from([f"gpu.xid.{number}" for number in NUMBERS]),
    st.sampled_from(
        ["gpu.recovery.reset", "gpu.lost", "gpu.gsp.timeout", "nvswitch.sxid.10004", "nvswitch.sxid.10005"]
    ),
    st.sampled_from(
        ["nvswitch.sxid.20034", "pcie.aer.corrected", "host.edac.ce", "gpu.amd.aca", "gpu.amd.reset"]
    ),
    st.text(max_size=12),
)
TIMES = st.one_of(st.none(), st.floats(0, 300, allow_nan=False), st.floats())
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.lists(st.integers(), max_size=9),
    st.dictionaries(st.sampled_from(["to", "gpc", "tpc"]), st.integers(), max_size=2),
)  # fmt: skip
KEYS = (
    "unit",
    "intrinfo",
    "error_status",
    "registers",
    "link",
    "links",
    "fatal",
    "recovery",
    "cause",
    "gpc",
    "tpc",
    "severity",
    "driver_branch",
)
TEXTS = st.one_of(
    st.text(max_size=60),
    st.sampled_from([
        "154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
        "154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)",
        "149, NETIR_LINK_EVT  Fatal XC0 i0 Link -1 (0x025001c6 0x00000000 0x00000000)",
        "45, caused by previous Xid 149", "20034, Non-fatal, Link 3", "74, link 2(0x0, 0x0, 0x10000, 0x0)",
        "64, All reserved rows for bank are remapped", "1 CE OVERFLOW",
    ]),
)  # fmt: skip
SIGHTINGS = st.lists(
    st.builds(
        Sighting, code=CODES, device=st.sampled_from(["", "0000:1a:00", "gpu:3"]), at=TIMES, uptime_s=TIMES,
        count=st.integers(-2, 9), detail=st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4), evidence=TEXTS,
    ),
    max_size=25,
)  # fmt: skip


@settings(max_examples=300)
@given(SIGHTINGS, st.integers(0, 700))
@example([], 0)
def test_any_sightings_fold_without_loss(sightings, branch):
    incidents = fold(sightings, load(), driver_branch=branch)
    assert all(isinstance(incident, Incident) for incident in incidents)
    # Each sighting is in one incident; an incident has at least one event, and no more than its lines tell.
    assert sum(incident.detail["lines"] for incident in incidents) == len(sightings)
    told = sum(max(1, sighting.count) for sighting in sightings)
    assert all(incident.count >= 1 for incident in incidents)
    assert sum(incident.count for incident in incidents) <= told
    for incident in incidents:
        assert len(incident.evidence) <= MAX_EVIDENCE
        assert incident.reason
        assert incident.source
        assert not (incident.scope is Scope.APPLICATION and incident.severity is Severity.FAIL)


@given(SIGHTINGS)
def test_the_same_sightings_give_the_same_incidents(sightings):
    assert fold(sightings, load()) == fold(list(sightings), load())


@given(SIGHTINGS)
def test_incidents_come_in_the_order_in_which_they_begin(sightings):
    numbered = [
        Sighting(
            code=one.code, device=one.device, uptime_s=one.uptime_s, when=f"{at:03d}", evidence=one.evidence
        )
        for at, one in enumerate(sightings)
    ]
    first = [incident.first for incident in fold(numbered, load())]
    assert first == sorted(first)


@given(SIGHTINGS)
def test_devices_do_not_mix(sightings):
    """Sightings of one device alone are judged as among those of others, unless a line names a cause elsewhere."""
    plain = [
        one
        for one in sightings
        if "cause" not in one.detail and "caused" not in one.evidence and one.at is None
    ]
    mine = [one for one in plain if one.device == "gpu:3"]
    codes = [incident.code for incident in fold(plain, load()) if incident.device == "gpu:3"]
    assert codes == [incident.code for incident in fold(mine, load())]


def test_a_flood_is_folded_in_time_that_grows_with_its_lines():
    def seconds(lines):
        flood = [
            Sighting(
                code=f"gpu.xid.{45 if n % 3 else 13}", device=f"gpu:{n % 2}", uptime_s=n * 7.0, evidence="x"
            )
            for n in range(lines)
        ]
        began = time.perf_counter()
        fold(flood, load())
        return time.perf_counter() - began

    seconds(500)
    small, large = seconds(4_000), seconds(16_000)
    assert large < 12 * small + 0.5
