from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.parsers.kernel_log import find_xids, parse_records, pci_address


def xids(text):
    return [(seen.code, seen.device) for seen in find_xids(parse_records(text))]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "NVRM: Xid (PCI:0000:1A:00): 79, pid=123, name=python, GPU has fallen off the bus.",
            [(79, "0000:1a:00")],
        ),
        ("NVRM: Xid (PCI:0000:c9:00 GPU-I:05): 31, pid=9, name=a.b:c [x], MMU Fault", [(31, "0000:c9:00")]),
        ("NVRM: Xid (PCI:0008:01:00): 149, NETIR_LINK_EVT  Fatal", [(149, "0008:01:00")]),
        ("NVRM: Xid (0000:1a:00.0): 94, Contained", [(94, "0000:1a:00")]),
        ("NVRM: Xid (XXXX): 48, DBE", [(48, "")]),
        (
            "NVRM: Xid (PCI:0000:1a:00): 45, pid='<unknown>', name=<unknown>, caused by previous Xid 149",
            [(45, "0000:1a:00")],
        ),
        ("nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Non-fatal, Link 30", []),
        ("NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.124.06", []),
        ("audit: name=Xid text (79)", []),
    ],
)
def test_lines(line, expected):
    assert xids(f"6,1,123456,-;{line}\n") == expected
    assert xids(f"[   12.345678] {line}\n") == expected
    assert xids(f"[   12.345678][  T291] {line}\n") == expected
    assert xids(line) == expected


FALLEN = "NVRM: The NVIDIA GPU 0000:c9:00.0\nNVRM: (PCI ID: 10de:2330) installed in this system has\nNVRM: fallen off the bus and is not responding to commands."


def test_lost_gpu_without_a_number_over_three_lines():
    first, *rest = FALLEN.split("\n")
    assert xids(f"[   9.5] {first}\n" + "\n".join(rest)) == [(79, "0000:c9:00")]
    assert xids("4,7,9500000,-;" + FALLEN.replace("\n", "\\x0a") + "\n") == [(79, "0000:c9:00")]


def test_times_and_dictionary_lines():
    text = "6,1,1500000,-,caller=T1;NVRM: Xid (PCI:0000:1a:00): 79, x\n SUBSYSTEM=pci\n DEVICE=+pci:0000:1a:00.0\n[  2.5] b\nc\n"
    assert [(record.uptime_s, record.text.split(",")[0]) for record in parse_records(text)] == [
        (1.5, "NVRM: Xid (PCI:0000:1a:00): 79"),
        (2.5, "b"),
        (None, "c"),
    ]


@pytest.mark.parametrize(
    ("to", "recovery"), [("0x1 (GPU Reset Required)", 1), ("0x0 (None)", None), ("0x4 (Drain)", 4)]
)
def test_recovery_action(to, recovery):
    line = f"NVRM: Xid (PCI:0000:1a:00): 154, GPU recovery action changed from 0x4 (x) to {to}"
    assert [seen.recovery for seen in find_xids(parse_records(line))] == [recovery]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("00000000:1A:00.0", "0000:1a:00"),
        ("PCI:0008:01:00", "0008:01:00"),
        ("1a:00.0", "0000:1a:00"),
        ("none", ""),
    ],
)
def test_one_spelling_of_addresses(text, address):
    assert pci_address(text) == address


@given(st.text())
def test_any_text_is_read(text):
    list(find_xids(parse_records(text)))


@given(st.integers(0, 999), st.integers(0, 10**9))
def test_any_number_at_any_time_is_found(code, micros):
    records = parse_records(f"4,1,{micros},-;NVRM: Xid (PCI:0000:1a:00): {code}, x\n")
    assert [(seen.code, seen.uptime_s) for seen in find_xids(records)] == [(code, micros / 1e6)]
