"""The prolog's question: order of the sources, fail closed, and its start-up cost."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from greenroom.cli import ask
from greenroom.model.admission import sign

KEY = b"k" * 32


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A node with a key, a boot id, and nobody answering."""
    for name in ("SLURMD_NODENAME", "SLURM_JOB_RESERVATION", "SLURM_JOB_UID"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "boot_id").write_text("boot-1\n")
    (tmp_path / "key").write_bytes(KEY)
    monkeypatch.setattr(ask, "BOOT_ID", str(tmp_path / "boot_id"))
    return tmp_path


def asked(place, *more):
    fixed = (
        "--node=gpu-01",
        f"--socket={place}/agent.sock",
        f"--key-file={place}/key",
        f"--state-dir={place}",
    )
    return ask.main([*fixed, "--timeout=0.5", *more])


def record(place, **fields):
    values = {
        "node": "gpu-01",
        "boot_id": "boot-1",
        "hardware": "h",
        "run_id": "r",
        "issued_at": 1.0,
        **fields,
    }
    (place / "admission.json").write_text(json.dumps(sign(KEY, **values)))


class Controller(BaseHTTPRequestHandler):
    answer, status, asked_for = b"{}", 200, ""

    def do_GET(self):
        type(self).asked_for = self.path
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, *args):
        pass


@pytest.fixture
def controller():
    server = HTTPServer(("127.0.0.1", 0), Controller)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    Controller.status = 200
    yield f"--controller=http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_nobody_answers_and_no_record_is_a_no(place, capsys):
    assert asked(place) == 1
    said = capsys.readouterr().err
    assert "gpu-01 is not admitted" in said
    assert "greenroom explain gpu-01" in said


def test_a_signed_record_of_this_boot_admits(place):
    record(place)
    assert asked(place) == 0


@pytest.mark.parametrize(
    ("fields", "why"),
    [({"boot_id": "boot-0"}, "another boot"), ({"node": "gpu-02"}, "for node gpu-02")],
)
def test_a_record_of_another_boot_or_node_does_not(place, capsys, fields, why):
    record(place, **fields)
    assert asked(place) == 1
    assert why in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[]", '{"node": "gpu-01"}', "not json"])
def test_a_damaged_record_does_not(place, text):
    (place / "admission.json").write_text(text)
    assert asked(place) == 1


def test_a_tampered_record_does_not(place, capsys):
    record(place, boot_id="boot-0")
    text = (place / "admission.json").read_text().replace("boot-0", "boot-1")
    (place / "admission.json").write_text(text)
    assert asked(place) == 1
    assert "signature" in capsys.readouterr().err


@pytest.mark.parametrize(("admitted", "code"), [(True, 0), (False, 1)])
def test_the_controllers_word_is_final(place, controller, admitted, code):
    if not admitted:
        record(place)  # would admit, but the controller knows better
    Controller.answer = json.dumps({"admitted": admitted, "reason": "held"}).encode()
    assert asked(place, controller) == code
    assert Controller.asked_for == "/api/v1/nodes/gpu-01/admitted?boot_id=boot-1"


@pytest.mark.parametrize(("answer", "status"), [(b"oops", 200), (b'{"admitted": "yes"}', 200), (b"{}", 500)])
def test_a_broken_controller_is_no_answer_and_the_record_decides(place, controller, answer, status):
    Controller.answer, Controller.status = answer, status
    assert asked(place, controller) == 1
    record(place)
    assert asked(place, controller) == 0


def test_a_controller_that_hangs_is_left_after_the_timeout(place):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        record(place)
        assert asked(place, f"--controller=http://127.0.0.1:{silent.getsockname()[1]}") == 0


@pytest.mark.parametrize(("admitted", "code"), [(True, 0), (False, 1)])
def test_the_agent_is_asked_first(place, controller, admitted, code):
    Controller.answer = json.dumps({"admitted": not admitted, "reason": "x"}).encode()
    with socket.socket(socket.AF_UNIX) as agent:
        agent.bind(str(place / "agent.sock"))
        agent.listen()

        def serve():
            channel, _ = agent.accept()
            with channel:
                assert json.loads(channel.makefile().readline())["boot_id"] == "boot-1"
                channel.sendall(json.dumps({"admitted": admitted, "reason": "agent"}).encode() + b"\n")

        thread = threading.Thread(target=serve)
        thread.start()
        assert asked(place, controller) == code
        thread.join()


def test_our_own_check_passes_and_a_users_job_in_a_reservation_does_not(place, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_RESERVATION", "greenroom-gpu-01")
    monkeypatch.setenv("SLURM_JOB_UID", "0")
    assert asked(place) == 0
    monkeypatch.setenv("SLURM_JOB_UID", "1000")
    assert asked(place) == 1
    monkeypatch.setenv("SLURM_JOB_UID", "0")
    monkeypatch.setenv("SLURM_JOB_RESERVATION", "maintenance")
    assert asked(place) == 1


def test_wrong_usage_says_so(place, capsys):
    assert asked(place, "--nod=x") == 64
    assert "'--nod' is not understood" in capsys.readouterr().err


def test_it_starts_with_the_standard_library_alone():
    """Counted in modules, not in milliseconds: the start-up rule."""
    code = (
        "import sys; sys.argv = ['greenroom', 'ask', '--node=x', '--socket=/nowhere', '--state-dir=/nowhere'];"
        "from greenroom.cli.main import main; main(); print(len(sys.modules), *sorted(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    count, *names = ran.stdout.split()
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(len(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    roots = {name.split(".")[0] for name in names}
    assert roots.isdisjoint(
        {
            "click",
            "rich",
            "asyncio",
            "dataclasses",
            "http",
            "ssl",
            "tomllib",
            "typing",
            "urllib",
            "pynvml",
            "typing_extensions",
        }
    )
    assert {name for name in names if name.startswith("greenroom.")} <= {
        "greenroom.cli",
        "greenroom.cli.main",
        "greenroom.cli.ask",
        "greenroom.model",
        "greenroom.model.admission",
    }
    assert int(count) - int(bare.stdout) < 60


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("http://ctl:8642", ("http", "ctl", 8642, "")),
        ("http://ctl", ("http", "ctl", 80, "")),
        ("https://ctl.example/gate/", ("https", "ctl.example", 443, "/gate")),
        ("http://[fd00::1]:8642/x", ("http", "fd00::1", 8642, "/x")),
        ("http://[fd00::1]", ("http", "fd00::1", 80, "")),
    ],
)
def test_urls(url, parts):
    assert ask._split(url) == parts


@pytest.mark.parametrize("url", ["", "ctl:8642", "ftp://ctl:21", "http://", "http://ctl:port"])
def test_a_wrong_url_is_no_answer_and_is_told(place, capsys, url):
    record(place)
    assert asked(place, "--controller", url or "x") == 0  # the record decides
    with pytest.raises(ValueError, match="expected http://host:port"):
        ask._split(url)


def test_what_goes_into_a_url_is_quoted():
    assert ask._quoted("gpu-01/ü?") == "gpu-01%2F%C3%BC%3F"
