from __future__ import annotations

import json
import stat
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from greenroom.model.jsonish import from_json
from greenroom.model.results import Report
from greenroom.model.words import Verdict
from greenroom.runner.deliver import deliver, write_private

DOWN = "http://127.0.0.1:9"  # the discard port: nobody listens
RECORD = {"node": "n1", "boot_id": "b", "signature": "s"}


def report(run_id: str = "r/1", started_at: float = 100.5) -> Report:
    return Report(
        run_id=run_id, node="n1", profile="quick", verdict=Verdict.FIT, results=(), started_at=started_at
    )


class Controller:
    """Answers as it is told, and remembers what it got."""

    def __init__(self) -> None:
        self.got: list[tuple[str, dict, dict]] = []
        self.answers: list[tuple[int, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.got.append((self.path, dict(self.headers), body))
                code, text = (
                    outer.answers.pop(0) if outer.answers else (200, '{"phase": "held", "admission": null}')
                )
                self.send_response(code)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def controller():
    made = Controller()
    yield made
    made.close()


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self):
        self.now, self.slept = 0.0, []

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds

    def __call__(self):
        return self.now


def send(what, url, state_dir, *, for_s=0.0, clock=None):
    clock = clock or Clock()
    return deliver(
        what, url=url, token="t0ken", state_dir=state_dir, deliver_for_s=for_s, sleep=clock.sleep, clock=clock
    )


def spooled(state_dir, folder="spool"):
    return sorted(path.name for path in (state_dir / folder).glob("*"))


def test_taken(controller, tmp_path):
    delivered = send(report(), controller.url, tmp_path)
    assert delivered.ok
    assert delivered.answer == {"phase": "held", "admission": None}
    path, headers, body = controller.got[0]
    assert path == "/api/v1/runs/r%2F1/report"
    assert headers["Authorization"] == "Bearer t0ken"
    assert from_json(Report, body) == report()
    assert spooled(tmp_path) == []
    assert not (tmp_path / "admission.json").exists()


def test_admission_is_written_for_root_alone(controller, tmp_path):
    controller.answers = [(200, json.dumps({"phase": "in_service", "admission": RECORD}))]
    send(report(), controller.url, tmp_path)
    file = tmp_path / "admission.json"
    assert json.loads(file.read_text()) == RECORD
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_nobody_there_stays_in_the_spool_and_waits_longer_each_time(tmp_path):
    clock = Clock()
    delivered = send(report(), DOWN, tmp_path, for_s=600, clock=clock)
    assert not delivered.ok
    assert "kept in" in delivered.detail
    assert clock.slept[:4] == [0.5, 1.0, 2.0, 4.0]
    assert max(clock.slept) == 30.0
    assert 560 <= sum(clock.slept) <= 600
    assert spooled(tmp_path) == ["r%2F1.json"]
    assert stat.S_IMODE((tmp_path / "spool" / "r%2F1.json").stat().st_mode) == 0o600


def test_what_was_left_goes_along_first_with_its_own_token(controller, tmp_path):
    send(report("old"), DOWN, tmp_path)
    spool = tmp_path / "spool" / "old.json"
    spool.write_text(spool.read_text().replace("t0ken", "older"))
    assert send(report("new"), controller.url, tmp_path).ok
    assert [(path, headers["Authorization"]) for path, headers, _ in controller.got] == [
        ("/api/v1/runs/old/report", "Bearer older"),
        ("/api/v1/runs/new/report", "Bearer t0ken"),
    ]
    assert spooled(tmp_path) == []


@pytest.mark.parametrize("code", [400, 401, 403, 404, 409, 410, 422])
def test_refused_for_good_is_put_aside(controller, tmp_path, code):
    controller.answers = [(code, '{"detail": "no such run"}')]
    delivered = send(report(), controller.url, tmp_path, for_s=600)
    assert not delivered.ok
    assert "no such run" in delivered.detail
    assert len(controller.got) == 1
    assert (spooled(tmp_path), spooled(tmp_path, "rejected")) == ([], ["r%2F1.json"])


@pytest.mark.parametrize("answer", [(500, "x"), (503, ""), (429, ""), (200, "not json")])
def test_a_passing_failure_is_tried_again(controller, tmp_path, answer):
    controller.answers = [answer, answer]
    assert send(report(), controller.url, tmp_path, for_s=600).ok
    assert len(controller.got) == 3


def test_an_old_report_that_is_refused_does_not_hold_up_the_new_one(controller, tmp_path):
    send(report("old"), DOWN, tmp_path)
    (tmp_path / "spool" / "broken.json").write_text("{")
    controller.answers = [(404, "")]
    assert send(report("new"), controller.url, tmp_path).ok
    assert spooled(tmp_path) == []
    assert spooled(tmp_path, "rejected") == ["broken.json", "old.json"]


def test_without_a_run_the_node_shows_its_admission(controller, tmp_path):
    write_private(tmp_path / "admission.json", RECORD)
    assert send(report(""), controller.url, tmp_path).ok
    path, headers, _ = controller.got[0]
    assert path == "/api/v1/nodes/n1/report"
    assert json.loads(headers["X-Greenroom-Admission"]) == RECORD


def test_spool_has_a_limit(tmp_path):
    for number in range(105):
        send(report(f"r{number:03}"), DOWN, tmp_path)
    assert len(spooled(tmp_path)) == 100
    assert "r104.json" in spooled(tmp_path)


def test_a_torn_write_leaves_the_old_file(tmp_path):
    write_private(tmp_path / "a.json", {"old": 1})
    with pytest.raises(TypeError):
        write_private(tmp_path / "a.json", {"new": object()})
    assert json.loads((tmp_path / "a.json").read_text()) == {"old": 1}
