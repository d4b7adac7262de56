"""One log, every frame: the same incidents. Broken lines, several hosts, JSON, times, and texts of no sense."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_frames import BASE, FRAMES, HOST, WITH_HOST, WITHOUT_CLOCK, wrap_hard, wrap_soft
from test_kernel_faults import LINES, ORDINARY

from greenroom.faults import load
from greenroom.parsers import framing, kernel_text, stamps, wraps
from greenroom.parsers.registry import read, recognise
from greenroom.policy.incidents import fold

REPORTS = [
    *LINES,
    "NVRM: Xid (PCI:0000:1b:00): 79, pid=1234, name=python3, GPU has fallen off the bus.",
    "NVRM: Xid (0000:1c:00): 48, DBE",
    "NVRM: Xid (PCI:0000:1D:00.0): 74, NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)",
    "nvidia-nvswitch1: SXid (PCI:0000:84:00.0): 12028, Non-fatal, Link 61 egress non-posted PRIV error (First)",
]
MESSAGES = [one for index, report in enumerate(REPORTS) for one in (ORDINARY[index % len(ORDINARY)], report)]
logs = st.lists(st.sampled_from([*REPORTS, *ORDINARY]), min_size=1, max_size=12).filter(
    lambda log: set(log) & set(REPORTS)
)


def told(text, kind="kernel-log"):
    return [(one.code, one.device, one.count) for one in read(text, kind).sightings]


EXPECTED = told(FRAMES["dmesg"](MESSAGES))


def test_the_plain_log_tells_each_report_once():
    # of the AER line and the one that only repeats it, one is left
    assert len(EXPECTED) == len(REPORTS) - 1


@pytest.mark.parametrize("frame", FRAMES)
def test_the_same_in_every_frame(frame):
    text = FRAMES[frame](MESSAGES)
    assert told(text) == EXPECTED
    assert recognise(text) == "kernel-log"
    sightings = read(text, "kernel-log").sightings
    assert {one.detail.get("host") for one in sightings} == ({HOST} if frame in WITH_HOST else {None})
    assert {one.at is not None or one.uptime_s is not None for one in sightings} == {
        frame not in WITHOUT_CLOCK
    }
    dated = [one.at for one in sightings if one.at is not None]
    assert all(0 <= at - BASE <= len(MESSAGES) for at in dated)
    assert all(100 <= one.uptime_s <= 101 + len(MESSAGES) for one in sightings if one.uptime_s is not None)


@given(logs, st.sampled_from(sorted(set(FRAMES) - {"dmesg"})))
@settings(max_examples=150, deadline=None)
def test_the_same_incidents_of_any_log_in_any_frame(log, frame):
    assert told(FRAMES[frame](log)) == told(FRAMES["dmesg"](log))


@pytest.mark.parametrize("width", [72, 80, 100, 132, 160, 200])
@pytest.mark.parametrize("frame", ["dmesg", "short", "rsyslog", "quoted", "kmsg", "cri", "pdsh", "bare"])
@pytest.mark.parametrize("wrap", [wrap_hard, wrap_soft])
def test_broken_lines_are_put_together(wrap, frame, width):
    assert told(wrap(FRAMES[frame](MESSAGES), width)) == EXPECTED


@pytest.mark.parametrize("width", range(50, 76))
def test_a_single_line_broken_anywhere(width):
    line = "[  100.250000] " + REPORTS[-4]
    assert told(wrap_hard(line, width)) == [("gpu.xid.79", "0000:1b:00", 1)]
    assert told(wrap_soft(line, width)) == [("gpu.xid.79", "0000:1b:00", 1)]


@pytest.mark.parametrize(
    "frame", ["dmesg", "json", "json bytes", "verbose", "export", "colours", "no-break spaces", "docker json"]
)
def test_a_file_is_read_in_blocks_as_a_paste_is(frame):
    times = 500_000 // len(FRAMES[frame](MESSAGES)) + 1
    text = FRAMES[frame](MESSAGES) * times
    blocks = (text[start : start + 7_777] for start in range(0, len(text), 7_777))
    for reading in (read(text, "kernel-log"), kernel_text.read_blocks(blocks)):
        assert [(one.code, one.device, one.count) for one in reading.sightings] == EXPECTED * times
        numbers = [one.line for one in reading.sightings]
        assert numbers == sorted(numbers)
    lines = text.split("\n")
    if frame == "dmesg":
        assert all(one.evidence in lines[one.line - 1] for one in reading.sightings)


def test_hosts_of_one_paste_stay_apart():
    lines = [f"node{n}: [  100.250000] {REPORTS[-4]}" for n in (1, 2)]
    assert {one.detail["host"] for one in read("\n".join(lines)).sightings} == {"node1", "node2"}
    play = f"node1 | CHANGED | rc=0 >>\n[ 1.500000] {REPORTS[-4]}\nnode2 | CHANGED | rc=0 >>\n[ 2.500000] {REPORTS[-3]}\n"
    assert [one.detail["host"] for one in read(play).sightings] == ["node1", "node2"]
    gathered = "----------------\nnode[1-3]\n----------------\n[ 1.500000] {}\n----------------\nnode4\n----------------\n[ 2.500000] {}\n"
    assert [one.detail["host"] for one in read(gathered.format(*REPORTS[-4:-2])).sightings] == [
        "node[1-3]",
        "node4",
    ]


XIDS = {
    "NVRM: Xid (0000:1b:00): 48, 00000004": (48, "0000:1b:00"),
    "NVRM: Xid (PCI:0000:1b:00.0): 48, DBE": (48, "0000:1b:00"),
    "NVRM: Xid (PCI:0000:1B:00): 48, pid=1, name=x, DBE": (48, "0000:1b:00"),
    "Xid (PCI:0000:1b:00): 48, pid=1": (48, "0000:1b:00"),
    "NVRM: Xid (PCI:0000:1b:00): 48": (48, "0000:1b:00"),
    "NVRM: Xid (PCI:0000:1b:00 GPU-I:05): 31, MMU Fault": (31, "0000:1b:00"),
    "NVRM: GPU 0000:1b:00.0: GPU has fallen off the bus.": (79, "0000:1b:00"),
    "NVRM: GPU at PCI:0000:1b:00: GPU has fallen off the bus.": (79, "0000:1b:00"),
    "GPU has fallen off the bus.": (79, ""),
    "[gpu-health] [CRITICAL] GPU-1: XID: NVRM: Xid (PCI:0000:1b:00): 79, pid=1, name=nvc:[driver], GPU has fallen": (79, "0000:1b:00"),
}  # fmt: skip


@pytest.mark.parametrize("line", XIDS)
def test_every_form_of_an_xid(line):
    (one,) = read(line, "kernel-log").sightings
    assert (one.code, one.device) == (f"gpu.xid.{XIDS[line][0]}", XIDS[line][1])


def test_a_lost_gpu_over_three_lines_with_heads_is_the_one_named_first():
    lines = ("NVRM: The NVIDIA GPU 0000:c9:00.0", "NVRM: (PCI ID: 10de:2330) installed in this system has", "NVRM: fallen off the bus and is not responding to commands.")  # fmt: skip
    for frame in ("dmesg", "short", "rsyslog", "json"):
        assert told(FRAMES[frame](lines)) == [("gpu.xid.79", "0000:c9:00", 1)]
    assert told("[    9.500000] " + "\n".join(lines)) == [("gpu.xid.79", "0000:c9:00", 1)]
    assert told("4,7,9500000,-;" + "\\x0a".join(lines)) == [("gpu.xid.79", "0000:c9:00", 1)]


def test_lines_of_one_report_are_one_sighting_with_their_detail():
    replay = (
        "pcieport 0000:00:03.0: AER: Corrected error received: 0000:00:03.0\n"
        "pcieport 0000:00:03.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Transmitter ID)\n"
        "pcieport 0000:00:03.0:   device [8086:6f08] error status/mask=00001000/00002000\n"
        "pcieport 0000:00:03.0:    [12] Timeout               \n"
    )
    (one,) = read(replay).sightings
    assert (one.code, one.detail["status"]) == ("pcie.aer.corrected.replay", "0x00001000")
    receiver = replay.replace("00001000", "00000001").replace("[12] Timeout", "[ 0] RxErr  ")
    assert [one.code for one in read(receiver).sightings] == ["pcie.aer.corrected"]
    down = receiver.replace("Corrected", "Uncorrected (Fatal)").replace(
        "00000001/00002000", "00100020/00100000"
    )
    assert [one.code for one in read(down).sightings] == ["pcie.aer.fatal.surprise_down"]
    cper = (
        "{4}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 0\n"
        "{4}[Hardware Error]: event severity: recoverable\n"
        "{4}[Hardware Error]:  Error 0, type: recoverable\n"
        "{4}[Hardware Error]:   section_type: PCIe error\n"
        "{4}[Hardware Error]:   device_id: 0000:17:00.0\n"
    )
    (one,) = read(cper).sightings
    assert (one.code, one.device, one.detail["section"]) == ("host.cper", "0000:17:00", "PCIe error")


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("cc00418000010091", "corrected"),
        ("fc00010001010092", "uncorrected"),
        ("9c20100000000000", "deferred"),
    ],
)
def test_the_status_of_a_machine_check_decides(status, code):
    line = f"EDAC sbridge MC1: CPU 0: Machine Check Event: 0 Bank 7: {status}"
    assert [one.code for one in read(line, "kernel-log").sightings] == [f"host.mce.{code}"]


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        ("2024-05-01T12:00:00.5+02:00", BASE + 0.5),
        ("2024-05-01T10:00:00,25Z", BASE + 0.25),
        ("2024/05/01 10:00:00", BASE),
        ("Wed May  1 10:00:00 2024", BASE),
        ("May 01 2024 10:00:00", BASE),
        ("1714557600.000001", BASE + 0.000001),
        ("May  1 10:00:00", None),
        ("2024-13-01 10:00:00", None),
        ("", None),
    ],
)
def test_dates(stamp, seconds):
    assert stamps.unix_time(stamp) == pytest.approx(seconds) if seconds else stamps.unix_time(stamp) is None


def test_trouble_that_no_rule_knows_is_said_and_ordinary_lines_are_not():
    odd = "[1.500000] NVRM: GPU0 kfspPollForQueueEmpty: something new failed: status 0x65"
    reading = read("\n".join([odd, *FRAMES["dmesg"](ORDINARY).split("\n")]), "kernel-log")
    assert (reading.sightings, reading.not_understood) == ((), (odd,))


def test_incidents_of_a_log_with_broken_lines_are_those_of_the_log():
    wrapped = fold(read(wrap_hard(FRAMES["dmesg"](MESSAGES), 90)).sightings, load())
    plain = fold(read(FRAMES["dmesg"](MESSAGES)).sightings, load())
    assert [(one.code, one.device, one.count, one.severity) for one in wrapped] == [
        (one.code, one.device, one.count, one.severity) for one in plain
    ]


@given(st.text(max_size=400))
def test_no_line_makes_a_prefix_raise(line):
    head = framing.peel(line)
    assert line.rstrip().endswith(head.text) or not line.strip()
    wraps.clean(line)


pieces = st.sampled_from(
    ["{", "}", '"MESSAGE" : ', '"log":"', "[", "]", "1,2,3;", "MESSAGE", "MESSAGE=", "NVRM: Xid (", "\n", "> ", "\x1b[", "&lt;",
     "2024-05-01T10:00:00Z ", "node1: ", "<3>", "\\x0a", "79", "), ", "----------\n", " | CHANGED |", "\x00", "\t", "é", "kernel: "]
)  # fmt: skip


@given(st.lists(pieces, max_size=60).map("".join))
def test_no_mixture_of_frames_makes_the_reader_raise(text):
    reading = read(text, "kernel-log")
    assert len(reading.not_understood) <= 20
    kernel_text.read_blocks([text, text])


@pytest.mark.parametrize(
    "unit", [*("[ 1.5] ", "> ", "<3>", "node1: ", '{"log":"', "MESSAGE=x\n", '"MESSAGE" : [\n', "2024-05-01 ", "pod/a ", "\x1b[", "&#", "- ", "NVRM: Xid (", "Ab 1 ", "\\x", "x | ", "\u00a0", "{1}[Hardware Error]: ", "EDAC MC0: 1 CE ", "\n")]
)  # fmt: skip
def test_twice_the_text_takes_about_twice_the_work(unit):
    """Counted in calls of the interpreter, not in seconds."""
    small, large = (_work(unit * (size // len(unit))) for size in (20_000, 40_000))
    assert large < 3 * small + 2_000


def _work(text):
    import sys

    calls = 0

    def count(_frame, event, _arg):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        read(text, "kernel-log")
    finally:
        sys.setprofile(None)
    return calls
