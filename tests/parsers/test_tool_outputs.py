from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.parsers import clock, fio, iperf3, mountinfo, stress_ng

# Recorded: stress-ng 0.15.06 (Debian 12), two cores
STRESS = """\
stress-ng: info:  [4286] setting to a 1 second run per stressor
stress-ng: info:  [4286] dispatching hogs: 2 cpu
stress-ng: metrc: [4286] stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s
stress-ng: metrc: [4286]                           (secs)    (secs)    (secs)   (real time) (usr+sys time)
stress-ng: metrc: [4286] cpu                2551      1.00      1.98      0.01      2550.34        1280.08
stress-ng: metrc: [4286] vm                20992      1.07      0.57      0.50     19710.17       19710.58
stress-ng: info:  [4286] successful run completed in 1.00s
"""


def test_stress_ng():
    stressed = stress_ng.parse(STRESS)
    assert (stressed.operations, stressed.failures) == (2551 + 20992, ())


def test_stress_ng_failure():
    stressed = stress_ng.parse("stress-ng: fail:  [7] vm: detected 3 bit errors\nstress-ng: error: [7] x\n")
    assert stressed.failures == ("vm: detected 3 bit errors",)
    assert stressed.operations == 0


def test_fio_notes_before_the_json():
    job = {"error": 84, "write": {"io_bytes": 5, "bw_bytes": 1}, "read": {"io_bytes": 4, "bw_bytes": 2}}
    parsed = fio.parse("fio: this platform does not support it\n" + json.dumps({"jobs": [job]}))
    assert (parsed.corrupt, parsed.read_bytes, parsed.written_bytes) == (True, 4, 5)


@pytest.mark.parametrize("text", ["", "{", "{}", '{"jobs": []}', '{"jobs": [{"error": null}]}'])
def test_fio_unparsable(text):
    with pytest.raises(fio.Unparsable):
        fio.parse(text)


def test_iperf3():
    assert iperf3.parse_bits_per_s('{"end": {"sum_received": {"bits_per_second": 2.3e10}}}') == 2.3e10
    with pytest.raises(fio.Unparsable, match="unable to connect"):
        iperf3.parse_bits_per_s('{"error": "unable to connect"}')


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"end": {}}'])
def test_iperf3_unparsable(text):
    with pytest.raises(fio.Unparsable):
        iperf3.parse_bits_per_s(text)


def test_mountinfo():
    text = (
        "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard\n"
        "30 22 0:25 / /mnt/a\\040b ro,nosuid - nfs4 srv:/x rw,vers=4.2\nbad line\n"
    )
    root, nfs = mountinfo.parse(text)
    assert (root.path, root.kind, root.device) == ("/", "ext4", "/dev/vda")
    assert (nfs.path, "ro" in nfs.mount_options, "ro" in nfs.fs_options) == ("/mnt/a b", True, False)


@given(st.text())
def test_text_parsers_take_anything(text):
    mountinfo.parse(text)
    stress_ng.parse(text)
    clock.parse_chrony(text)
    clock.parse_timedatectl(text)
