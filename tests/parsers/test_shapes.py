"""What people paste, shape by shape: code, scope, severity and device; and what must not alarm anybody."""

from __future__ import annotations

import itertools
import random

import pytest
from log_frames import FRAMES, wrap_soft
from shapes import HARMLESS, TROUBLE

from greenroom.faults import load, lookup
from greenroom.model.words import Severity
from greenroom.parsers.registry import read, read_all
from greenroom.policy.incidents import fold


def incidents(text):
    return fold([one for reading in read_all(text) for one in reading.sightings], load())


def label(row):
    return f"{row[1]}-{row[0][:30]}"


@pytest.mark.parametrize("row", TROUBLE, ids=label)
def test_trouble_is_read_right(row):
    text, code, scope, severity, device = row
    told = incidents(text)
    right = [one for one in told if one.code == code or one.code.startswith(f"{code}.")]
    assert right, [(one.code, one.device) for one in told]
    (one,) = right if len(right) == 1 else right[:1]
    assert one.scope.value == scope
    assert one.severity.value == severity if severity else one.severity is not Severity.NOTE
    assert one.device == device or not device
    worst = max(told, key=lambda other: list(Severity).index(other.severity))
    assert list(Severity).index(worst.severity) <= max(list(Severity).index(one.severity), 1), (
        "graver than what it says"
    )


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_ordinary_alarms_nobody(text):
    assert [one.code for one in incidents(text) if one.severity is not Severity.NOTE] == []


def test_there_are_enough_shapes():
    assert len(TROUBLE) >= 100
    assert len(HARMLESS) >= 40


@pytest.mark.parametrize(
    "row", [row for row in TROUBLE if row[0].startswith(("NVRM: Xid", "[  812", "[   12"))], ids=label
)
@pytest.mark.parametrize("dress", ["quoted", "fenced", "mailed"])
def test_dressed_as_mails_and_forums_do(row, dress):
    text, code, _, _, device = row
    if dress == "quoted":
        text = "".join(f"> {line}\n" for line in text.split("\n"))
    elif dress == "fenced":
        text = f"Hello,\nwe see this on one node:\n```\n{text}\n```\nWhat shall we do?\n"
    else:
        text = wrap_soft(text, 76)
    assert any(one.code.startswith(code) and device in ("", one.device) for one in incidents(text))


DRIVERS = ["usb 1-1", "pci 0000:00:1f.0", "systemd[1]", "audit", "docker0", "igb 0000:01:00.0 eno1", "mlx5_core 0000:ca:00.0", "nvme nvme0",
           "EDAC MC0", "pcieport 0000:c9:01.0", "NVRM", "nvidia 0000:4e:00.0", "amdgpu 0000:c3:00.0", "XFS (nvme1n1)", "EXT4-fs (sda2)",
           "nvidia-nvswitch0", "sd 0:0:0:0: [sda]", "ACPI", "kubelet[812]", "dockerd[71]", "slurmd[99]", "sshd[4711]", "CRON[12]", "mce", "rcu", "Lustre", "bond0"]  # fmt: skip
WORDS = ["new high-speed device number 7", "link is up at 100 Gbps", "enabled", "registered", "firmware version 28.39.1002", "loaded", "disabled by user",
         "renamed from eth0", "error handling enabled", "timeout set to 30 s", "no errors found", "0 errors", "bandwidth 504.112 Gb/s", "session opened for user root",
         "mounted with ordered data mode", "reset controller state to default", "fatal signals are reported", "recovered 0 orphans", "state changed: up", "started",
         "temperature 41 C", "x16 link at 32.0 GT/s", "uncorrectable errors are logged", "Xid logging on", "Cable plugged", "queue 3 of 32", "health check passed",
         "blocked 3 of 7 requests by policy", "I/O scheduler mq-deadline registered", "memory failure recovery is enabled", "panic_on_oops=1", "watchdog did not stop", "retired 0 pages"]  # fmt: skip


def ordinary_lines(number):
    dice = random.Random(7)
    for index in range(number):
        yield f"{dice.choice(DRIVERS)}: {dice.choice(WORDS)}, {dice.choice(WORDS)} ({index * 7919 % 65_536:#x})"


@pytest.mark.parametrize("frame", ["dmesg", "short", "rsyslog", "json", "cri"])
def test_forty_thousand_lines_of_other_things_tell_nothing(frame):
    lines = FRAMES[frame](list(itertools.islice(ordinary_lines(40_000), 40_000)))
    reading = read(lines, "kernel-log")
    assert [one.evidence for one in reading.sightings] == []
    assert reading.not_understood == ()
    assert reading.healthy >= 40_000


def test_the_ordinary_lines_of_a_paste_are_no_puzzle_either():
    reading = read("\n".join(ordinary_lines(3_000)), "kernel-log")
    assert (reading.sightings, reading.not_understood) == ((), ())


def test_every_code_that_a_parser_makes_of_these_texts_is_in_the_catalogue():
    texts = [row[0] for row in TROUBLE] + HARMLESS
    codes = {one.code for text in texts for reading in read_all(text) for one in reading.sightings}
    assert {code for code in codes if lookup(code).source == "not in the catalogue"} == set()
