from __future__ import annotations

import os
import time

import pytest

from greenroom.probes.gpus import on_bus, read_gpus
from greenroom.probes.host import LocalHost, ProbeUnavailable
from greenroom.probes.nvml import Driver
from greenroom.probes.recorded import RecordedHost


def test_drain_reads_a_file_to_its_end(tmp_path):
    log = tmp_path / "kmsg"
    log.write_text("6,1,0,-;a\n" * 20_000)
    assert LocalHost().drain(str(log)) == "6,1,0,-;a\n" * 20_000


def test_drain_does_not_wait_for_more(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)
    os.write(writer, b"now\n")
    assert LocalHost().drain(str(pipe)) == "now\n"
    os.close(writer)


def test_what_is_not_there_is_could_not_tell(tmp_path):
    for look in (LocalHost().drain, LocalHost().space, LocalHost().read):
        with pytest.raises(ProbeUnavailable, match="No such file"):
            look(str(tmp_path / "none"))


def test_space(tmp_path):
    space = LocalHost().space(str(tmp_path))
    assert 0 <= space.free_bytes <= space.total_bytes


@pytest.mark.parametrize("host", [LocalHost(), RecordedHost()])
def test_twins_agree_on_what_is_missing(host):
    with pytest.raises(ProbeUnavailable, match="not installed"):
        host.run(["greenroom-no-such-tool"], timeout_s=1)
    assert not host.exists("/no/such")
    assert host.glob("/no/such/*") == []


def test_recorded_glob_matches_part_by_part():
    host = RecordedHost(files={"/sys/class/net/eth0/device/vendor": "x", "/sys/class/net/lo/mtu": "1"})
    assert host.glob("/sys/class/net/*") == ["/sys/class/net/eth0", "/sys/class/net/lo"]
    assert host.glob("/sys/class/net/*/device") == ["/sys/class/net/eth0/device"]


def test_nvml_reader_that_breaks_is_told_from_one_that_hangs():
    key = "/"  # any interpreter
    assert read_gpus(RecordedHost(commands={key: "rubbish"}), {}, timeout_s=1).driver is Driver.FAILED
    hung = RecordedHost(commands={key: ProbeUnavailable("python: not back after 1 s, killed")})
    assert read_gpus(hung, {}, timeout_s=1).driver is Driver.HUNG


def test_the_bus_tells_whose_library_is_asked():
    def device(slot, vendor, kind):
        root = f"/sys/bus/pci/devices/0000:{slot:02x}:00.0"
        return {f"{root}/vendor": f"{vendor}\n", f"{root}/class": f"{kind}\n"}

    desktop = device(1, "0x1002", "0x030000")  # the graphics of a processor
    accelerators = {**device(2, "0x1002", "0x120000"), **device(3, "0x1002", "0x038000")}
    nic = device(4, "0x15b3", "0x020700")
    host = RecordedHost(files={**desktop, **accelerators, **nic}, commands={"/": "rubbish"})
    assert on_bus(host) == {"nvidia": 0, "amd": 2}
    assert read_gpus(host, on_bus(host), timeout_s=1).vendor == "amd"
    assert host.ran[-1][-1] == "greenroom.probes.amd"
    assert read_gpus(host, {"nvidia": 0, "amd": 0}, timeout_s=1).vendor == "nvidia"


def test_space_with_a_deadline_is_the_same_space(tmp_path):
    host = LocalHost()
    assert host.space(str(tmp_path), timeout_s=10).total_bytes == host.space(str(tmp_path)).total_bytes
    with pytest.raises(ProbeUnavailable, match="none: No such file"):
        host.space(str(tmp_path / "none"), timeout_s=10)


def test_a_mount_that_hangs_costs_its_deadline_and_is_named(monkeypatch):
    monkeypatch.setattr(os, "statvfs", lambda _: time.sleep(60))
    started = time.monotonic()
    with pytest.raises(ProbeUnavailable, match="/mnt/dead: not back after"):
        LocalHost().space("/mnt/dead", timeout_s=0.2)
    assert time.monotonic() - started < 20


def test_waiting_takes_time_here_and_none_in_a_recording():
    started = time.monotonic()
    LocalHost().wait(0.05)
    assert time.monotonic() - started >= 0.05
    host = RecordedHost(files={"/a": "1", "/b": "1"}, later={"/a": "2"})
    before = host.now()
    assert host.read("/a") == "1"
    host.wait(1.0)
    assert (host.read("/a"), host.read("/b"), host.now() - before) == ("2", "1", 1.0)
