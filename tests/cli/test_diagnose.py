"""`greenroom diagnose`: files, folders, tars, standard input."""

from __future__ import annotations

import io
import json
import tarfile

import pytest

from greenroom.cli.main import main

GRAVE = "[1.5] NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.\n"
SMALL = "[2.5] NVRM: Xid (PCI:0000:42:00): 13, Graphics Exception\n"


def told(capsys, *argv):
    code = main(["diagnose", *argv, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_file_is_read_and_the_exit_code_says_how_grave_it_is(tmp_path, capsys):
    path = tmp_path / "paste"
    path.write_text(GRAVE + SMALL)
    code, answer = told(capsys, str(path))
    assert code == 1
    assert answer["schema"] == 1
    first = answer["incidents"][0]
    assert {
        "device",
        "code",
        "scope",
        "severity",
        "remedy",
        "count",
        "first",
        "last",
        "evidence",
    } <= first.keys()
    assert (first["device"], first["code"], first["remedy"]) == ("0000:41:00", "gpu.xid.79", "reboot")
    path.write_text(SMALL)
    assert told(capsys, str(path))[0] == 0
    path.write_text("all is well, says the poet")
    code, answer = told(capsys, str(path))
    assert (code, answer["not_understood"]) == (3, ["all is well, says the poet"])


def test_standard_input_and_a_table(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GRAVE.encode())))
    assert main(["diagnose"]) == 1
    out = capsys.readouterr().out
    assert "gpu.xid.79" in out
    assert "reboot" in out


def test_a_folder_and_a_tar_of_files(tmp_path, capsys):
    folder = tmp_path / "report"
    (folder / "deep").mkdir(parents=True)
    (folder / "dmesg").write_text(GRAVE)
    (folder / "deep" / "journal").write_text(SMALL)
    (folder / "odd.bin").write_bytes(bytes(range(256)) * 10)
    code, answer = told(capsys, str(folder))
    assert (code, len(answer["incidents"])) == (1, 2)
    assert any(text.startswith("odd.bin: ") for text in answer["not_understood"])
    packed = tmp_path / "report.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(folder, "report")
        evil = tarfile.TarInfo("../../etc/evil")
        evil.size = len(SMALL)
        archive.addfile(evil, io.BytesIO(SMALL.encode()))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    code, answer = told(capsys, str(packed))
    assert code == 1
    assert sum(one["detail"]["lines"] for one in answer["incidents"]) == 3
    assert not (tmp_path.parent / "etc").exists()


@pytest.mark.parametrize(
    ("argv", "says"),
    [(["/no/such/file"], "No such file"), (["-", "--kind", "tarot"], "expected auto or one of")],
)
def test_usage(argv, says, capsys):
    assert main(["diagnose", *argv]) == 64
    assert says in capsys.readouterr().err


def test_kinds_are_listed(capsys):
    assert main(["diagnose", "--kind", "list"]) == 0
    assert "kernel-log" in capsys.readouterr().out.split()
