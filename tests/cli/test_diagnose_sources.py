"""`greenroom diagnose`: packed files, bug reports, large files, several hosts, the driver's branch."""

from __future__ import annotations

import gzip
import io
import json
import random
import subprocess
import sys
import tarfile

import pytest

from greenroom.cli import sources
from greenroom.cli.main import main
from greenroom.parsers.bug_report import split, title
from greenroom.parsers.driver_version import find_branch

GRAVE = "[    1.500000] NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.\n"
SMALL = "[    2.500000] NVRM: Xid (PCI:0000:42:00): 13, Graphics Exception\n"
RULE = "_" * 44 + "\n\n"
REPORT = (
    "nvidia-bug-report.log\n\nStart of NVIDIA bug report log file.  Please include this file, along\n"
    + RULE
    + "*** /proc/driver/nvidia/./version\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\n\n"
    + RULE
    + "journalctl -b -0:\n\nMay  1 10:00:01 node7 kernel: NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.\n\n"
    + RULE
    + "/usr/bin/dmesg\n\n"
    + GRAVE
    + "\n"
    + RULE
    + "/usr/bin/nvidia-smi --query\n\nUnable to determine the device handle for GPU 0000:41:00.0: GPU is lost.\n\n"
    + RULE
    + "*** /etc/issue\nDebian GNU/Linux\n\n"
    + RULE
    + "/sbin/lspci -d 10de:*\n\n41:00.0 3D controller: NVIDIA Corporation GA100 [A100 SXM4 80GB] (rev ff)\n"
)


def told(capsys, *argv):
    code = main(["diagnose", *map(str, argv), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_packed_file_is_read(tmp_path, capsys):
    path = tmp_path / "kern.log.1.gz"
    path.write_bytes(gzip.compress(GRAVE.encode()))
    code, answer = told(capsys, path)
    assert (code, [one["code"] for one in answer["incidents"]]) == (1, ["gpu.xid.79"])


def test_packed_files_in_a_packed_tar_and_in_a_folder_are_read(tmp_path, capsys):
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.gz").write_bytes(gzip.compress(GRAVE.encode()))
    (folder / "b").write_text(SMALL)
    assert len(told(capsys, folder)[1]["incidents"]) == 2
    path = tmp_path / "all.tgz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, "logs")
    assert len(told(capsys, path)[1]["incidents"]) == 2


def test_standard_input_may_be_packed(monkeypatch, capsys):
    monkeypatch.setattr(
        "sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(gzip.compress(GRAVE.encode()))))
    )
    assert told(capsys, "-")[0] == 1


def test_a_broken_packed_file_ends_where_it_breaks(tmp_path, capsys):
    whole = gzip.compress((GRAVE * 2000).encode(), compresslevel=0)
    path = tmp_path / "cut.gz"
    path.write_bytes(whole[: len(whole) // 2])
    assert told(capsys, path)[0] == 1
    path.write_bytes(b"\x1f\x8bnonsense")
    assert told(capsys, path)[0] == 3


def test_a_bomb_is_read_up_to_the_limit_only(tmp_path):
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb") as packed:
        for _ in range(50):
            packed.write(b"0" * 1_000_000)
    with path.open("rb") as file:
        one = sources.Source(name="", file=file, budget=sources.Budget(left=1_000_000))
        assert sum(map(len, one.blocks())) == 1_000_000


def test_a_bug_report_is_read_section_by_section(tmp_path, capsys):
    path = tmp_path / "nvidia-bug-report.log.gz"
    path.write_bytes(gzip.compress(REPORT.encode()))
    code, answer = told(capsys, path)
    assert code == 1
    assert {"kernel-log", "nvidia-smi", "lspci"} <= set(answer["kinds"])
    by_code = {one["code"]: one for one in answer["incidents"]}
    assert {"gpu.xid.79", "gpu.lost"} <= set(by_code) | set(
        by_code["gpu.xid.79"]["detail"].get("followers", {})
    )
    assert by_code["gpu.xid.79"]["count"] == 1  # the journal and dmesg hold the same line
    assert answer["not_understood"] == []


def test_lines_of_sections_are_lines_of_the_file():
    lines = REPORT.split("\n")
    for before, section in split(REPORT):
        assert lines[before : before + section.count("\n")][1:] == section.split("\n")[1:-1] or before == 0
    titles = [title(section) for _, section in split(REPORT)]
    assert titles[1:4] == ["/proc/driver/nvidia/./version", "journalctl -b -0", "/usr/bin/dmesg"]
    assert split(GRAVE) == []
    assert split("_" * 30 + "\n" + GRAVE) == []


@pytest.mark.parametrize(
    ("text", "branch"),
    [
        (REPORT, 535),
        ("[ 8.1] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.124.06  Release Build", 570),
        ("| NVIDIA-SMI 550.54.14   Driver Version: 550.54.14   CUDA Version: 12.4 |", 550),
        ("Driver Version                            : 580.159.04", 580),
        ("<driver_version>575.57.08</driver_version>", 575),
        ('{"driver_version": "595.71.05"}', 595),
        ("a driver of 12 years", 0),
        ("", 0),
    ],
)
def test_the_branch_of_the_driver(text, branch):
    assert find_branch(text) == branch


def test_the_branch_in_the_text_decides_how_a_report_is_read(tmp_path, capsys):
    report = "[    3.500000] NVRM: Xid (PCI:0000:41:00): 154, GPU recovery action changed from 0x0 to 0x5\n"
    codes = {}
    for branch in (580, 610):
        path = tmp_path / str(branch)
        path.write_text(
            f"[    1.500000] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  {branch}.10.01\n{report}"
        )
        codes[branch] = [one["code"] for one in told(capsys, path)[1]["incidents"]]
    assert codes == {580: ["gpu.recovery.reset"], 610: ["gpu.recovery.other"]}


def test_what_two_hosts_tell_is_two_incidents(tmp_path, capsys):
    path = tmp_path / "pdsh"
    path.write_text(f"node1: {GRAVE}node2: {GRAVE}")
    code, answer = told(capsys, path)
    assert code == 1
    assert [(one["code"], one["detail"]["host"], one["count"]) for one in answer["incidents"]] == [
        ("gpu.xid.79", "node1", 1),
        ("gpu.xid.79", "node2", 1),
    ]
    main(["diagnose", str(path)])
    shown = capsys.readouterr().out
    assert "HOST" in shown
    assert "node2" in shown


def test_a_text_saved_by_windows_is_read(tmp_path, capsys):
    path = tmp_path / "log"
    for encoding in ("utf-16", "utf-8-sig"):
        path.write_text(GRAVE, encoding=encoding)
        assert [one["code"] for one in told(capsys, path)[1]["incidents"]] == ["gpu.xid.79"]


def test_nothing_in_a_text_steers_the_terminal(tmp_path, capsys):
    path = tmp_path / "log"
    path.write_text(
        "EDAC MC0: 1 UE memory read error on DIMM[/red][bold]\x1b[31mX (channel:1)\nNVRM: \x1b[2J failed\n"
    )
    main(["diagnose", str(path)])
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "dimm[/red][bold]" in shown


def test_a_text_that_tells_nothing_either_way_is_undecided(tmp_path, capsys):
    path = tmp_path / "noise"
    path.write_bytes(random.Random(7).randbytes(600_000))
    assert main(["diagnose", str(path)]) == 3
    assert "nothing wrong" not in capsys.readouterr().out


def test_what_differs_by_nothing_but_the_device_is_one_line(tmp_path, capsys):
    path = tmp_path / "sinfo"
    path.write_text(
        "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\ngpu up 1-00:00:00 12 drng@ c[001-012]\n"
    )
    assert len(told(capsys, path)[1]["incidents"]) == 12
    main(["diagnose", str(path)])
    assert "c[001-012] (12)" in capsys.readouterr().out


def test_prose_forced_to_be_a_log_is_no_health(tmp_path, capsys):
    path = tmp_path / "words"
    path.write_text("To whom it may concern.\nAll is well here.\nYours\n")
    main(["diagnose", "--kind", "kernel-log", str(path)])
    assert "nothing in it tells whether something is wrong" in " ".join(capsys.readouterr().out.split())


QUIET = "usb 1-1: new device number {0}, of no meaning at all for anybody"
OTHER = "job {0} of queue long: step {0} done, nothing here is of any form that we know"


@pytest.mark.parametrize("line", [f"[{{0:12.6f}}] {QUIET}", OTHER], ids=["kernel log", "unknown form"])
def test_a_large_log_takes_little_memory(tmp_path, line):
    path = tmp_path / "large.log"
    with path.open("w") as file:
        for index in range(600_000):
            file.write(line.format(index) + "\n")
        file.write(GRAVE)
    program = (
        "import sys; from greenroom.cli.main import main; code = main(['diagnose', sys.argv[1], '--json']);"
        "lines = open('/proc/self/status').read().splitlines();"  # ru_maxrss would count ours, too
        "print(*[line.split()[1] for line in lines if line.startswith('VmHWM')], file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["incidents"][0]["code"] == "gpu.xid.79"
    assert int(done.stderr) / 1024 < 80  # MiB; the file has 50 MB


@pytest.mark.parametrize("lines", [20, 20_000])
def test_trouble_behind_much_else_is_found(tmp_path, capsys, lines):
    path = tmp_path / "syslog"
    path.write_text("".join(OTHER.format(index) + "\n" for index in range(lines)) + GRAVE)
    code, answer = told(capsys, path)
    assert (code, [one["code"] for one in answer["incidents"]]) == (1, ["gpu.xid.79"])
