"""The store on a SQL database: SQLite (WAL) by default, anything SQLAlchemy speaks otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from greenroom.model.jsonish import from_json, to_json
from greenroom.model.words import Phase
from greenroom.policy.events import Launch, RunFinished, action_from_json, action_to_json, event_to_json
from greenroom.policy.state import Attempt, NodeState
from greenroom.store import AlertRow, Change, Committed, Entry, Pending, RunRow, Settled, StoreUnavailable
from greenroom.store.tables import actions, alerts, attempts, events, nodes, runs

HEAD = "0001"
BUSY_TIMEOUT_S = 10.0


class SqlStore:
    """See store.Store."""

    def __init__(self, url: str) -> None:
        """Open, and bring the schema up to date if it is not."""
        self._sqlite = url.startswith("sqlite")
        self._engine = sa.create_engine(url, connect_args=_connect_args(url))
        if self._sqlite:
            sa.event.listen(self._engine, "connect", _on_connect)
            sa.event.listen(self._engine, "begin", _begin_immediate)
        self._parsed: dict[str, tuple[str, NodeState]] = {}
        self._migrate(url)

    def _migrate(self, url: str) -> None:
        with self._read() as connection:
            known = sa.inspect(connection).has_table("alembic_version")
            at = connection.scalar(sa.text("select version_num from alembic_version")) if known else ""
        if at == HEAD:
            return
        from alembic import command  # noqa: PLC0415 - only needed when the schema is behind
        from alembic.config import Config  # noqa: PLC0415

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
        with self._write() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    @contextmanager
    def _write(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except DBAPIError as error:
            raise StoreUnavailable(f"{self._engine.url.database}: {error.orig}") from error

    @contextmanager
    def _read(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.connect().execution_options(greenroom_reads=True) as connection:
                yield connection
        except DBAPIError as error:
            raise StoreUnavailable(f"{self._engine.url.database}: {error.orig}") from error

    def load(self, node: str) -> NodeState | None:  # noqa: D102 - the protocol says it
        with self._read() as connection:
            text = connection.scalar(sa.select(nodes.c.state).where(nodes.c.node == node))
        return _state(text) if text else None

    def states(self) -> list[NodeState]:  # noqa: D102
        query = sa.select(nodes.c.node, nodes.c.state).order_by(nodes.c.node)
        with self._read() as connection:
            rows = [(row.node, row.state) for row in connection.execute(query)]
        # Most states are what they were at the last reading; reading JSON into dataclasses is dear.
        known, self._parsed = self._parsed, {}
        for node, text in rows:
            before = known.get(node)
            self._parsed[node] = before if before and before[0] == text else (text, _state(text))
        return [self._parsed[node][1] for node, _ in rows]

    def commit(self, changes: Sequence[Change]) -> list[Committed]:  # noqa: D102
        with self._write() as connection:
            return [_commit(connection, change) for change in changes]

    def pending(self) -> list[Pending]:  # noqa: D102
        query = sa.select(actions).where(actions.c.status == "pending").order_by(actions.c.at, actions.c.id)
        with self._read() as connection:
            return [
                Pending(
                    id=row.id,
                    node=row.node,
                    at=row.at,
                    action=action_from_json(json.loads(row.action)),
                    tries=row.tries,
                    detail=row.detail,
                )
                for row in connection.execute(query)
            ]

    def tried(self, action_id: str, detail: str) -> None:  # noqa: D102
        change = actions.update().where(actions.c.id == action_id)
        with self._write() as connection:
            connection.execute(change.values(tries=actions.c.tries + 1, detail=detail))

    def settle(self, settled: Sequence[Settled]) -> None:  # noqa: D102
        with self._write() as connection:
            for one in settled:
                values = {
                    "status": "done" if one.ok else "failed",
                    "detail": one.detail,
                    "settled_at": one.at,
                }
                connection.execute(actions.update().where(actions.c.id == one.action_id).values(values))

    def timeline(self, node: str, limit: int = 200) -> list[Entry]:  # noqa: D102
        last = sa.select(events).where(events.c.node == node).order_by(events.c.seq.desc()).limit(limit)
        with self._read() as connection:
            rows = list(connection.execute(last))[::-1]
            since = rows[0].seq if rows else 0
            acts: dict[int, list[dict[str, Any]]] = {}
            mine = sa.select(actions).where(actions.c.node == node, actions.c.seq >= since)
            for row in connection.execute(mine.order_by(actions.c.id)):
                shown = {**json.loads(row.action), "status": row.status, "detail": row.detail}
                acts.setdefault(row.seq, []).append(shown)
        return [
            Entry(
                node=row.node,
                seq=row.seq,
                at=row.at,
                kind=row.kind,
                event=json.loads(row.event),
                rule=row.rule,
                phase_before=Phase(row.phase_before),
                phase_after=Phase(row.phase_after),
                reason=row.reason,
                actions=tuple(acts.get(row.seq, ())),
            )
            for row in rows
        ]

    def runs(self, node: str = "", limit: int = 50) -> list[RunRow]:  # noqa: D102
        query = sa.select(*[column for column in runs.c if column.name != "report"])
        query = query.where(runs.c.node == node) if node else query
        with self._read() as connection:
            rows = connection.execute(query.order_by(runs.c.launched_at.desc()).limit(limit))
            return [RunRow(**row._mapping) for row in rows]  # noqa: SLF001 - SQLAlchemy's public spelling

    def run(self, run_id: str) -> RunRow | None:  # noqa: D102
        with self._read() as connection:
            row = connection.execute(sa.select(runs).where(runs.c.run_id == run_id)).one_or_none()
        if row is None:
            return None
        return RunRow(**{**row._mapping, "report": json.loads(row.report)})  # noqa: SLF001

    def attempts_of(self, hardware: str) -> tuple[Attempt, ...]:  # noqa: D102
        query = sa.select(attempts.c.attempt).where(attempts.c.hardware == hardware)
        with self._read() as connection:
            known = [from_json(Attempt, json.loads(text)) for text in connection.scalars(query)]
        return tuple(sorted(known, key=lambda one: one.at))

    def raise_alert(self, key: str, text: str, at: float) -> bool:  # noqa: D102
        with self._write() as connection:
            return _raise(connection, key, text, at)

    def clear_alert(self, key: str, at: float) -> None:  # noqa: D102
        still_open = (alerts.c.key == key) & (alerts.c.cleared_at == 0)
        with self._write() as connection:
            connection.execute(alerts.update().where(still_open).values(cleared_at=at))

    def alerts(self, *, open_only: bool = False, limit: int = 100) -> list[AlertRow]:  # noqa: D102
        query = sa.select(alerts).order_by(alerts.c.id.desc()).limit(limit)
        query = query.where(alerts.c.cleared_at == 0) if open_only else query
        with self._read() as connection:
            return [
                AlertRow(key=row.key, text=row.text, raised_at=row.raised_at, cleared_at=row.cleared_at)
                for row in connection.execute(query)
            ]

    def close(self) -> None:  # noqa: D102
        self._engine.dispose()


def _connect_args(url: str) -> dict[str, Any]:
    return {"timeout": BUSY_TIMEOUT_S, "check_same_thread": False} if url.startswith("sqlite") else {}


def _on_connect(connection: Any, _record: object) -> None:  # noqa: ANN401 - the DBAPI's own connection
    connection.isolation_level = None  # transactions are begun by us, see below
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_immediate(connection: sa.Connection) -> None:
    # A transaction that reads first and writes later cannot wait for another writer in SQLite.
    if not connection.get_execution_options().get("greenroom_reads"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _state(text: str) -> NodeState:
    return from_json(NodeState, json.loads(text))


def _text(value: object) -> str:
    return json.dumps(to_json(value), separators=(",", ":"), ensure_ascii=False)


def _commit(connection: sa.Connection, change: Change) -> Committed:
    before, after = change.before, change.after
    if change.key and connection.scalar(sa.select(events.c.id).where(events.c.key == change.key)):
        return Committed.DUPLICATE
    row = {"seq": after.seq, "phase": after.phase, "state": _text(after)}
    guard = (nodes.c.node == before.node) & (nodes.c.seq == before.seq)
    if not connection.execute(nodes.update().where(guard).values(row)).rowcount:
        known = connection.scalar(sa.select(nodes.c.seq).where(nodes.c.node == before.node))
        if known is not None or before.seq != 0:
            return Committed.CONFLICT
        connection.execute(nodes.insert().values(node=after.node, **row))
    connection.execute(
        events.insert().values(
            node=after.node,
            seq=after.seq,
            at=change.at,
            kind=type(change.event).__name__,
            event=json.dumps(event_to_json(change.event), separators=(",", ":"), ensure_ascii=False),
            rule=change.rule,
            phase_before=before.phase,
            phase_after=after.phase,
            reason=after.reason,
            key=change.key or None,
        )
    )
    for index, action in enumerate(change.actions):
        connection.execute(
            actions.insert().values(
                id=change.action_id(index),
                node=after.node,
                seq=after.seq,
                at=change.at,
                action=json.dumps(action_to_json(action), ensure_ascii=False),
                status="pending",
                tries=0,
                detail="",
                settled_at=0.0,
            )
        )
        if isinstance(action, Launch):
            launched = RunRow(
                run_id=action.run_id, node=after.node, profile=action.profile, launched_at=change.at
            )
            connection.execute(runs.insert().values({**to_json(launched), "report": "{}"}))
    _save_attempts(connection, change)
    if isinstance(change.event, RunFinished) and change.report is not None:
        _save_report(connection, change, change.event)
    return Committed.DONE


def _save_attempts(connection: sa.Connection, change: Change) -> None:
    """Repairs by machine: added as they start, gone when refused or forgiven by a person."""
    before = {one.action_id: one for one in change.before.attempts}
    after = {one.action_id: one for one in change.after.attempts}
    if gone := before.keys() - after.keys():
        connection.execute(attempts.delete().where(attempts.c.action_id.in_(gone)))
    for name in after.keys() - before.keys():
        if not connection.scalar(sa.select(attempts.c.hardware).where(attempts.c.action_id == name)):
            row = {"action_id": name, "hardware": after[name].hardware, "attempt": _text(after[name])}
            connection.execute(attempts.insert().values(row))


def _save_report(connection: sa.Connection, change: Change, event: RunFinished) -> None:
    report = change.report or {}
    run_id = event.run_id or f"{change.after.node}-{change.after.seq}-unasked"
    values = {
        "finished_at": change.at,
        "verdict": event.verdict,
        "seconds": float(report.get("seconds", 0.0)),
        "report": json.dumps(report, separators=(",", ":"), ensure_ascii=False),
    }
    if connection.execute(runs.update().where(runs.c.run_id == run_id).values(values)).rowcount:
        return
    profile = str(report.get("profile", ""))
    named = {"run_id": run_id, "node": change.after.node, "profile": profile, "launched_at": change.at}
    connection.execute(runs.insert().values({**named, **values}))


def _raise(connection: sa.Connection, key: str, text: str, at: float) -> bool:
    still_open = sa.select(alerts.c.id).where(alerts.c.key == key, alerts.c.cleared_at == 0)
    if connection.scalar(still_open):
        return False
    connection.execute(alerts.insert().values(key=key, text=text, raised_at=at, cleared_at=0.0))
    return True
