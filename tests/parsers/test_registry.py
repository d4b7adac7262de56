"""Texts are read by the parser of their kind; none of them raises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.parsers.registry import all_parsers, read, recognise

XID = "NVRM: Xid (PCI:0000:41:00): 79, pid=1234, name=python3, GPU has fallen off the bus."
FRAMES = {
    "bare": "{}",
    "dmesg": "[82659.755847] {}",
    "kmsg": "3,1234,82659755847,-;{}",
    "syslog": "Feb 15 17:37:45 node7 kernel: [82659.755847] {}",
    "journal": "Feb 15 17:37:45 node7 kernel: {}",
    "iso": "2026-02-15T17:37:45.123456+00:00 node7 kernel: {}",
}


@pytest.mark.parametrize("frame", FRAMES)
def test_an_xid_is_read_in_every_frame(frame):
    reading = read(FRAMES[frame].format(XID))
    assert reading.kind == "kernel-log"
    (one,) = reading.sightings
    assert (one.code, one.device, one.line) == ("gpu.xid.79", "0000:41:00", 1)
    if "82659" in FRAMES[frame]:
        assert one.uptime_s == pytest.approx(82659.755847)
    assert one.when == {"syslog": "Feb 15 17:37:45", "journal": "Feb 15 17:37:45"}.get(
        frame, "2026-02-15T17:37:45.123456+00:00" if frame == "iso" else ""
    )


@pytest.mark.parametrize(
    ("text", "code", "fatal"),
    [
        ("[1.5] nvidia-nvswitch3: SXid (PCI:0000:c6:00.0): 12028, Non-fatal, Link 48 egress", 12028, False),
        ("[1.5] nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM fault", 20034, True),
    ],
)
def test_a_report_of_a_switch(text, code, fatal):
    (one,) = read(text).sightings
    assert (one.code, one.detail["fatal"]) == (f"nvswitch.sxid.{code}", fatal)


@pytest.mark.parametrize(
    "text",
    [
        "[1.5] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.124.06",
        "[1.5] nvidia-nvswitch: Probing device 0000:c6:00.0, Vendor Id = 0x10de",
        "[1.5] usb 1-1: new high-speed USB device number 2",
        "the manual says that Xid 79 means that a GPU has fallen off the bus",
    ],
)
def test_ordinary_lines_are_no_sightings(text):
    assert read(text, "kernel-log").sightings == ()


def test_a_report_that_is_not_understood_is_said():
    reading = read("[1.5] NVRM: Xid (PCI:0000:41:00): something new")
    assert reading.sightings == ()
    assert reading.not_understood == ("[1.5] NVRM: Xid (PCI:0000:41:00): something new",)


def test_what_nobody_knows_is_said_and_nothing_is_made_of_it():
    assert recognise("to be or not to be") == ""
    reading = read("to be or not to be")
    assert (reading.kind, reading.sightings, reading.not_understood) == ("", (), ("to be or not to be",))
    assert read("").not_understood == ()


def test_a_flood_is_bounded():
    reading = read(f"[1.0] {XID}\n" * 12_000)
    assert len(reading.sightings) == 10_000
    assert "the rest is left out" in reading.not_understood[-1]


@given(st.text(max_size=2000), st.sampled_from(["auto", *all_parsers()]))
def test_no_text_makes_a_parser_raise(text, kind):
    reading = read(text, kind)
    assert len(reading.not_understood) <= 20
