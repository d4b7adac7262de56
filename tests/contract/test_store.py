"""The same contract on both stores: SQL and the memory twin."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from greenroom.model.nodes import NodeView
from greenroom.model.results import Identity
from greenroom.model.words import Phase, Rung, Standing, Verdict
from greenroom.policy.events import Alert, Launch, OperatorHold, RunFinished, Seen
from greenroom.policy.state import Attempt, NodeState, Wanted
from greenroom.store import Change, Committed, Settled, Store, StoreUnavailable, open_store


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    url = "memory:" if request.param == "memory" else f"sqlite:///{tmp_path}/greenroom.db"
    opened = open_store(url)
    yield opened
    opened.close()


def change(node="gpu-01", seq=0, **fields) -> Change:
    before = NodeState(node=node, seq=seq)
    after = replace(
        before, seq=seq + 1, phase=Phase.HELD, reason="new node", wanted=Wanted(profile="light", cause="new")
    )
    values = {"event": Seen(view=NodeView(name=node, standing=Standing.HELD)), "at": 10.0 + seq, "rule": "r"}
    return Change(**{"before": before, "after": after, **values, **fields})


def test_a_state_comes_back_as_it_was_written(store: Store):
    attempt = Attempt(rung=Rung.REBOOT, at=1.5, fault="gpu.missing", hardware="hw1", action_id="a")
    one = change()
    one = replace(one, after=replace(one.after, attempts=(attempt,), hardware="hw1"))
    assert store.commit([one]) == [Committed.DONE]
    assert store.load("gpu-01") == one.after
    assert store.load("gpu-02") is None
    assert store.attempts_of("hw1") == (attempt,)
    assert store.attempts_of("hw2") == ()
    forgiven = replace(one.after, seq=2, attempts=())
    assert store.commit([change(seq=1, before=one.after, after=forgiven)]) == [Committed.DONE]
    assert store.attempts_of("hw1") == ()


def test_a_stale_writer_is_told_and_changes_nothing(store: Store):
    assert store.commit([change()]) == [Committed.DONE]
    assert store.commit([change(), change(node="gpu-02")]) == [Committed.CONFLICT, Committed.DONE]
    assert store.commit([change(seq=5)]) == [Committed.CONFLICT]
    assert [entry.seq for entry in store.timeline("gpu-01")] == [1]
    assert [state.node for state in store.states()] == ["gpu-01", "gpu-02"]


def test_an_event_delivered_twice_is_kept_once(store: Store):
    assert store.commit([change(key="run:1")]) == [Committed.DONE]
    assert store.commit([change(seq=1, key="run:1")]) == [Committed.DUPLICATE]
    assert store.load("gpu-01").seq == 1


def test_actions_stay_pending_until_settled_and_are_shown_in_the_timeline(store: Store):
    launch = Launch(run_id="r1", profile="light", since=0.0)
    store.commit([change(actions=(launch, Alert(key="k", text="t")))])
    first, second = store.pending()
    assert (first.action, second.action) == (launch, Alert(key="k", text="t"))
    store.tried(first.id, "scheduler away")
    assert store.pending()[0].tries == 1
    store.settle([Settled(action_id=first.id, ok=True, detail="job 7", at=11.0)])
    assert [one.id for one in store.pending()] == [second.id]
    shown = store.timeline("gpu-01")[0].actions
    assert [(one["kind"], one["status"], one["detail"]) for one in shown] == [
        ("Launch", "done", "job 7"),
        ("Alert", "pending", ""),
    ]


def test_runs_appear_at_launch_and_are_completed_by_their_report(store: Store):
    store.commit([change(actions=(Launch(run_id="r1", profile="light", since=0.0),))])
    assert (store.runs()[0].run_id, store.runs()[0].verdict) == ("r1", "")
    finished = RunFinished(run_id="r1", verdict=Verdict.FIT, identity=Identity(machine="m"))
    report = {"profile": "light", "seconds": 3.5, "results": []}
    store.commit([change(seq=1, event=finished, report=report)])
    run = store.run("r1")
    assert (run.verdict, run.seconds, run.report["profile"], run.launched_at) == ("fit", 3.5, "light", 10.0)
    assert store.runs(node="gpu-02") == []
    unasked = RunFinished(run_id="", verdict=Verdict.UNFIT, identity=Identity())
    store.commit([change(seq=2, event=unasked, report=report)])
    assert {run.verdict for run in store.runs()} == {"fit", "unfit"}


def test_one_alert_an_episode(store: Store):
    assert store.raise_alert("fleet-limit", "10 of 10 out", 1.0)
    assert not store.raise_alert("fleet-limit", "again", 2.0)
    store.clear_alert("fleet-limit", 3.0)
    assert store.raise_alert("fleet-limit", "once more", 4.0)
    assert [alert.text for alert in store.alerts()] == ["once more", "10 of 10 out"]
    assert [alert.text for alert in store.alerts(open_only=True)] == ["once more"]


def test_the_timeline_keeps_the_latest_in_order(store: Store):
    for seq in range(5):
        store.commit([change(seq=seq, event=OperatorHold(user="ann", reason=f"try {seq}"))])
    assert [entry.event["reason"] for entry in store.timeline("gpu-01", limit=2)] == ["try 3", "try 4"]


def test_a_locked_or_broken_file_is_unavailable_not_a_crash(tmp_path, monkeypatch):
    monkeypatch.setattr("greenroom.store.sql.BUSY_TIMEOUT_S", 0.1)
    path = tmp_path / "greenroom.db"
    store = open_store(f"sqlite:///{path}")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked"):
        store.commit([change()])
    assert store.states() == []  # readers are not kept out (WAL)
    other.execute("ROLLBACK")
    other.close()
    assert store.commit([change()]) == [Committed.DONE]
    store.close()
    path.write_bytes(b"this is no database" * 100)
    for extra in tmp_path.glob("*-*"):
        extra.unlink()
    with pytest.raises(StoreUnavailable, match="not a database"):
        open_store(f"sqlite:///{path}")


def test_reopening_keeps_everything_and_migrations_match_the_tables(tmp_path):
    url = f"sqlite:///{tmp_path}/greenroom.db"
    store = open_store(url)
    store.commit([change()])
    store.close()
    again = open_store(url)
    assert again.load("gpu-01").reason == "new node"
    again.close()
    import sqlalchemy as sa
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    from greenroom.store.tables import metadata

    engine = sa.create_engine(url)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    engine.dispose()
