"""A mount whose server never answers, for real: a FUSE file system that nobody serves."""

from __future__ import annotations

import ctypes
import os
import time
from pathlib import Path

import pytest

from greenroom.checks.expectations import load_expected
from greenroom.checks.frame import Facts, load_all
from greenroom.probes.host import LocalHost, ProbeUnavailable
from greenroom.probes.nvml import Driver, GpuFacts

MNT_DETACH = 2


@pytest.fixture
def dead_mount(tmp_path):
    if os.geteuid() or not Path("/dev/fuse").exists():
        pytest.skip("needs root and /dev/fuse")
    libc = ctypes.CDLL(None, use_errno=True)
    handle = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={handle},rootmode=40000,user_id=0,group_id=0"
    if libc.mount(b"filer:/home", str(tmp_path).encode(), b"fuse.sshfs", 0, options.encode()):
        os.close(handle)
        pytest.skip(f"cannot mount here: {os.strerror(ctypes.get_errno())}")
    yield tmp_path
    os.close(handle)
    libc.umount2(str(tmp_path).encode(), MNT_DETACH)


def test_it_is_given_up_after_its_deadline(dead_mount):
    started = time.monotonic()
    with pytest.raises(ProbeUnavailable, match="not back after"):
        LocalHost().space(str(dead_mount), timeout_s=0.3)
    assert time.monotonic() - started < 10


def test_the_check_names_it(dead_mount):
    check = load_all()["mounts.answering"]
    facts = Facts(gpus=GpuFacts(driver=Driver.LIBRARY_MISSING))
    answer = check.function(facts, LocalHost(), load_expected().only(check.expects))
    assert str(dead_mount) in [finding.subject for finding in answer.findings]
