"""Results coming home over HTTP, the prolog's question, and views."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from greenroom.controller.results import Keys, Results
from greenroom.model.admission import token, verify
from greenroom.model.jsonish import to_json
from greenroom.model.results import CheckResult, Finding, Identity, Report
from greenroom.model.words import Outcome, Phase, Verdict
from greenroom.store import StoreUnavailable
from greenroom.web.api import MAX_BODY_BYTES, build
from stories.cluster import Story

KEYS = Keys(secret=b"s" * 32, admission=b"a" * 32)


@pytest.fixture
def story():
    story = Story()
    story.join("gpu-01")
    story.silent.add("gpu-01")
    story.turn(4)
    story.woken = []
    return story


@pytest.fixture
def client(story):
    app = build(
        store=story.store,
        results=Results(story.gate, KEYS, lambda: story.now),
        rules=lambda: story.rules,
        health=lambda: story.loop.health,
        wake=lambda: story.woken.append(1),
    )
    with TestClient(app) as client:
        yield client


def report(run_id, verdict=Verdict.FIT, node="gpu-01", boot_id="b1"):
    found = (
        (Finding(code="gpu.missing", subject="gpu7", message="7 of 8"),) if verdict is Verdict.UNFIT else ()
    )
    result = CheckResult(check="gpu.count", outcome=Outcome.FAIL if found else Outcome.PASS, findings=found)
    return to_json(
        Report(
            run_id=run_id,
            node=node,
            profile="light",
            verdict=verdict,
            results=(result,),
            identity=Identity(boot_id=boot_id, machine="serial-gpu-01"),
            seconds=3.0,
        )
    )


def send(client, run_id, body, *, bearer=None):
    headers = {"Authorization": f"Bearer {bearer or token(KEYS.secret, run_id)}"}
    return client.post(f"/api/v1/runs/{run_id}/report", json=body, headers=headers)


def test_a_fit_report_admits_and_brings_a_signed_record_back(story, client):
    run_id = story.state("gpu-01").run_id
    answer = send(client, run_id, report(run_id))
    assert answer.status_code == 200
    assert answer.json()["phase"] == "in_service"
    record = answer.json()["admission"]
    assert verify(record, KEYS.admission, node="gpu-01", boot_id="b1") == ""
    assert story.woken
    assert client.get("/api/v1/nodes/gpu-01/admitted?boot_id=b1").json()["admitted"] is True
    other = client.get("/api/v1/nodes/gpu-01/admitted?boot_id=b2").json()
    assert (other["admitted"], "another boot" in other["reason"]) == (False, True)
    assert client.get(f"/api/v1/runs/{run_id}").json()["report"]["results"][0]["check"] == "gpu.count"


def test_a_report_sent_twice_counts_once_and_gets_the_same_answer(story, client):
    run_id = story.state("gpu-01").run_id
    first, again = send(client, run_id, report(run_id)), send(client, run_id, report(run_id))
    assert first.json() == again.json()
    assert sum(entry.kind == "RunFinished" for entry in story.store.timeline("gpu-01")) == 1


def test_an_unfit_report_admits_nothing(story, client):
    run_id = story.state("gpu-01").run_id
    answer = send(client, run_id, report(run_id, Verdict.UNFIT)).json()
    assert answer == {"phase": "recovering", "admission": None}
    assert client.get("/api/v1/nodes/gpu-01/admitted?boot_id=b1").json()["admitted"] is False


def test_a_wrong_token_node_or_body_is_refused_and_changes_nothing(story, client):
    run_id = story.state("gpu-01").run_id
    before = story.state("gpu-01")
    assert send(client, run_id, report(run_id), bearer="nonsense").status_code == 403
    assert send(client, run_id, report(run_id, node="gpu-02")).status_code == 403
    assert send(client, "other-run", report("other-run")).status_code == 403
    bad = send(client, run_id, {"run_id": run_id})
    assert (bad.status_code, "Report.node: missing" in bad.json()["error"]) == (422, True)
    assert send(client, run_id, [1]).status_code == 422
    large = client.post(f"/api/v1/runs/{run_id}/report", content=b"x" * (MAX_BODY_BYTES + 1))
    assert large.status_code == 413
    assert story.state("gpu-01") == before


def test_a_finding_in_service_needs_the_admission_record_of_this_boot(story, client):
    run_id = story.state("gpu-01").run_id
    record = send(client, run_id, report(run_id)).json()["admission"]
    import json

    def found(record, **fields):
        headers = {"X-Greenroom-Admission": json.dumps(record)}
        return client.post(
            "/api/v1/nodes/gpu-01/report", json=report("", Verdict.UNFIT, **fields), headers=headers
        ).status_code

    assert found({**record, "boot_id": "b2"}) == 403
    assert found(record, boot_id="b2") == 403
    assert found(record, node="gpu-02") == 403
    assert found({}) == 403
    assert story.state("gpu-01").leaving == ""
    assert found(record) == 200
    assert "gpu.missing" in story.state("gpu-01").leaving


def test_a_store_that_is_away_is_said_so_that_the_node_tries_again(story, client, monkeypatch):
    run_id = story.state("gpu-01").run_id

    def away(*_):
        raise StoreUnavailable("locked")

    monkeypatch.setattr(story.store, "commit", away)
    assert send(client, run_id, report(run_id)).status_code == 503
    monkeypatch.undo()
    assert send(client, run_id, report(run_id)).status_code == 200
    assert story.phase("gpu-01") is Phase.IN_SERVICE


def test_health_says_when_the_scheduler_is_away(story, client):
    assert client.get("/healthz").status_code == 200
    story.scheduler.away = "slurmctld does not answer"
    story.turn()
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["scheduler_away"] == "slurmctld does not answer"
    assert client.get("/api/v1/alerts?open_only=true").json()[0]["key"] == "scheduler-away"


def test_views(story, client):
    assert client.get("/api/v1/nodes").json()[0]["node"] == "gpu-01"
    one = client.get("/api/v1/nodes/gpu-01").json()
    assert one["state"]["phase"] == "checking"
    assert one["timeline"][-1]["actions"][0]["kind"] == "Launch"
    assert client.get("/api/v1/nodes/gpu-77").status_code == 404
    assert client.get("/api/v1/runs").json()[0]["profile"] == "light"
    assert client.get("/api/v1/groups").json() == []


def test_metrics_count_what_is_there(story, client):
    story.scheduler.away = "gone"
    story.turn()
    text = client.get("/metrics").text
    assert 'greenroom_nodes{phase="checking"} 1.0' in text
    assert "greenroom_scheduler_away 1.0" in text
    assert 'greenroom_alert_open{key="scheduler-away"} 1.0' in text
