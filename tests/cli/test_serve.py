"""`greenroom serve` as a process: start, reload, stop, and what keeps it from starting."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

TOML = """\
[controller]
listen = "127.0.0.1:{port}"
state_dir = "{dir}/state"
poll_s = 0.2
[scheduler]
kind = "memory"
[gate]
on_start_profile = "{profile}"
"""


def start(tmp_path):
    argv = [sys.executable, "-m", "greenroom.cli.main", "serve", "--config", str(tmp_path / "greenroom.toml")]
    return subprocess.Popen(argv, stderr=subprocess.PIPE, text=True)


def until(question, *, seconds=20.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if answer := question():
                return answer
        except OSError:
            pass
        time.sleep(0.05)
    raise AssertionError("not in time")


@pytest.fixture
def served(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "greenroom.toml").write_text(TOML.format(port=port, dir=tmp_path, profile="quick"))
    process = start(tmp_path)

    def healthy():
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
            return json.load(answer)["cycles"]

    until(healthy)
    yield tmp_path, process, port
    if process.poll() is None:
        process.kill()
    process.communicate()


def test_reload_keeps_the_old_rules_when_the_new_file_is_wrong_and_stops_gracefully(served):
    tmp_path, process, _ = served
    config = tmp_path / "greenroom.toml"
    good = config.read_text()
    config.write_text(good.replace("quick", "quik"))
    process.send_signal(signal.SIGHUP)
    time.sleep(1)
    config.write_text(good.replace("quick", "light"))
    process.send_signal(signal.SIGHUP)
    time.sleep(1)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 0
    lines = [json.loads(line) for line in err.splitlines()]
    said = [line["event"] for line in lines]
    assert said[0] == "controller started"
    assert said[-1] == "controller stopped"
    wrong = next(line for line in lines if "not reloaded" in line["event"])
    assert f"{config}:8: gate.on_start_profile" in wrong["why"]
    assert "configuration reloaded" in said


def test_a_second_controller_on_the_same_state_does_not_start(served):
    tmp_path, _, _ = served
    second = start(tmp_path)
    _, err = second.communicate(timeout=20)
    assert second.returncode == 78
    assert "another controller is running" in err


def test_an_address_in_use_is_said_and_ends_it(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        (tmp_path / "greenroom.toml").write_text(TOML.format(port=port, dir=tmp_path, profile="quick"))
        process = start(tmp_path)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 78
    assert f"cannot listen on 127.0.0.1:{port}" in err


def test_keys_are_made_once_and_readable_by_the_owner_only(served):
    tmp_path, _, _ = served
    for name in ("controller.key", "admission.key"):
        path = tmp_path / "state" / name
        assert path.stat().st_mode & 0o077 == 0
        assert len(path.read_text().strip()) == 64
