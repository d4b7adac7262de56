from __future__ import annotations

import json

import pytest
from healthy import ask, codes, expect

from greenroom.checks.frame import Looked, NotApplicable
from greenroom.probes.host import ProbeUnavailable, Ran, Space
from greenroom.probes.recorded import RecordedHost

MEMINFO = {"/proc/meminfo": "MemTotal:       24684000 kB\nMemAvailable:   20000000 kB\n"}
GIB = 1024**3
TMP_ONLY = expect(filesystem__free_paths=["/tmp"])


def space(*, free: float = 0.5, inodes: float = 0.5) -> Space:
    return Space(
        total_bytes=GIB, free_bytes=int(GIB * free), total_inodes=1000, free_inodes=int(1000 * inodes)
    )


# ---- stress ----

GOOD_STRESS = "stress-ng: metrc: [9] cpu                2551      1.00      1.98      0.01      2550.34        1280.08\n"
BAD_STRESS = "stress-ng: fail:  [10] cpu: matrixprod error detected, failed final checksum\n"
STRESS = [("cpu.stress", "host.cpu.miscompute"), ("memory.stress", "host.memory.miscompute")]


def stress_host(rc: int, stderr: str) -> RecordedHost:
    ran = Ran(argv=("stress-ng",), rc=rc, stdout="", stderr=stderr, seconds=1.0)
    return RecordedHost(files=MEMINFO, commands={"stress-ng": ran})


@pytest.mark.parametrize(("name", "code"), STRESS)
@pytest.mark.parametrize(
    ("rc", "text"),
    [(0, ""), (3, "no resources"), (2, "killed"), (1, ""), (1, GOOD_STRESS), (5, GOOD_STRESS + BAD_STRESS)],
)
def test_stress_that_did_not_work_tells_nothing(name, code, rc, text):
    with pytest.raises(ProbeUnavailable):
        ask(name, host=stress_host(rc, text))
    with pytest.raises(ProbeUnavailable, match="not installed"):
        ask(name, host=RecordedHost(files=MEMINFO))


@pytest.mark.parametrize(("load_s", "kib"), [(12.0, 1_500_000), (120.0, 15_000_000), (3600.0, 15_000_000)])
def test_memory_stress_covers_more_with_more_time_and_never_all(load_s, kib):
    host = stress_host(0, GOOD_STRESS)
    ask("memory.stress", host=host, load_s=load_s)
    assert host.ran[0][host.ran[0].index("--vm-bytes") + 1] == f"{kib}K"


# ---- memory size ----


@pytest.mark.parametrize(("wanted", "found"), [(20, []), (23.5, []), (24, ["host.memory.missing"])])
def test_memory_size(wanted, found):
    answer = ask(
        "memory.size", host=RecordedHost(files=MEMINFO), expected=expect(memory__total_gib_min=wanted)
    )
    assert codes(answer) == found
    assert answer.looked == {"total_gib": 23.5}


def test_memory_size_without_expectation_or_reading():
    assert isinstance(ask("memory.size", host=RecordedHost(files=MEMINFO)), NotApplicable)
    with pytest.raises(ProbeUnavailable):
        ask("memory.size", host=RecordedHost(files={"/proc/meminfo": "odd"}))


# ---- file systems ----


def test_no_path_there_is_nothing_looked_at():
    answer = ask("filesystem.free", host=RecordedHost(), expected=TMP_ONLY)
    assert isinstance(answer, Looked)
    assert not answer.looked  # the runner makes "unable" of it


MOUNT = "29 1 8:1 / {path} {mount},relatime shared:1 - ext4 /dev/sda1 {fs},errors=remount-ro\n"


def mounts(path: str = "/scratch", mount: str = "rw", fs: str = "rw", fstab: str = "") -> RecordedHost:
    text = MOUNT.format(path=path, mount=mount, fs=fs)
    return RecordedHost(files={"/proc/self/mountinfo": text, "/etc/fstab": fstab}, spaces={path: space()})


def test_mount_points():
    wanted = expect(filesystem__mounts=["/scratch", "/data"])
    assert codes(ask("filesystem.mounted", host=mounts(), expected=wanted)) == ["host.mount.missing"]
    assert (
        codes(ask("filesystem.mounted", host=mounts(), expected=expect(filesystem__mounts=["/scratch"])))
        == []
    )
    assert isinstance(ask("filesystem.mounted", host=mounts()), NotApplicable)


def test_mount_that_does_not_answer_is_unable():
    host = RecordedHost(files={"/proc/self/mountinfo": MOUNT.format(path="/scratch", mount="rw", fs="rw")})
    with pytest.raises(ProbeUnavailable):
        ask("filesystem.mounted", host=host, expected=expect(filesystem__mounts=["/scratch"]))


# ---- disk ----


def fio(error: int = 0, read: int = 1 << 20, stderr: str = "") -> Ran:
    job = {
        "error": error,
        "write": {"io_bytes": 1 << 20, "bw_bytes": 1e8},
        "read": {"io_bytes": read, "bw_bytes": 2e8},
    }
    return Ran(
        argv=("fio",),
        rc=int(error > 0),
        stdout="note\n" + json.dumps({"jobs": [job]}),
        stderr=stderr,
        seconds=1,
    )


def disk(answer: Ran | str) -> RecordedHost:
    return RecordedHost(spaces={"/var/tmp": space()}, commands={"fio": answer, "rm": ""})


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (fio(), []),
        (fio(error=84, stderr="verify: bad header rand_seed"), ["host.disk.corrupt"]),
        (fio(error=5), ["host.disk.error"]),
    ],
)
def test_disk(answer, found):
    host = disk(answer)
    assert codes(ask("disk.verify", host=host)) == found
    assert host.ran[-1][0] == "rm"  # the test data never stay


def test_disk_that_cannot_bypass_the_page_cache_is_said():
    def run(argv):
        if "--direct=1" in argv:
            return Ran(argv=tuple(argv), rc=1, stdout="", stderr="fio: error=Invalid argument", seconds=0)
        return fio()

    answer = ask(
        "disk.verify", host=RecordedHost(spaces={"/var/tmp": space()}, commands={"fio": run, "rm": ""})
    )
    assert answer.looked["/var/tmp"]["direct"] is False


@pytest.mark.parametrize("answer", ["", "rubbish", fio(read=0)])
def test_disk_nothing_read_back_is_no_pass(answer):
    with pytest.raises(ProbeUnavailable):
        ask("disk.verify", host=disk(answer))


def test_disk_without_room_or_folder():
    full = RecordedHost(spaces={"/var/tmp": space(free=0)}, commands={"fio": fio()})
    with pytest.raises(ProbeUnavailable, match="no room"):
        ask("disk.verify", host=full)
    assert isinstance(ask("disk.verify", host=RecordedHost()), NotApplicable)


# ---- clock ----


def test_clock_nobody_knows():
    with pytest.raises(ProbeUnavailable, match=r"chronyc.*timedatectl"):
        ask("clock.synchronised", host=RecordedHost(commands={"timedatectl": ""}))


# ---- network ----


def links(**links_: dict[str, str]) -> RecordedHost:
    files = {
        f"/sys/class/net/{name}/{key}": text
        for name, fields in links_.items()
        for key, text in fields.items()
    }
    files["/sys/class/net/lo/operstate"] = "unknown\n"
    return RecordedHost(files=files)


def link(
    state: str = "up", speed: str = "200000", changes: str = "3", *, virtual: bool = False
) -> dict[str, str]:
    fields = {"operstate": f"{state}\n", "speed": f"{speed}\n", "carrier_changes": f"{changes}\n"}
    return fields if virtual else {**fields, "device/vendor": "0x15b3\n"}


def test_no_link_to_look_at():
    assert isinstance(ask("network.links", host=links()), NotApplicable)


# ---- loopback ----


def iperf(bits: float | None = None, error: str = "") -> RecordedHost:
    data = {"error": error} if error else {"end": {"sum_received": {"bits_per_second": bits}}}
    return RecordedHost(commands={"iperf3 -c": json.dumps(data), "iperf3 -s": ""})


def test_loopback_that_could_not_measure():
    with pytest.raises(ProbeUnavailable, match="busy"):
        ask("loopback.tcp", host=iperf(error="the server is busy"))
    with pytest.raises(ProbeUnavailable, match="not installed"):
        ask("loopback.tcp", host=RecordedHost())
