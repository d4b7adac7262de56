"""The tables. JSON is kept as text: read and written whole, the same on every database."""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Integer, MetaData, String, Table, Text, UniqueConstraint

metadata = MetaData()

nodes = Table(
    "nodes",
    metadata,
    Column("node", String(255), primary_key=True),
    Column("seq", Integer, nullable=False),
    Column("phase", String(32), nullable=False),
    Column("state", Text, nullable=False),
)
events = Table(
    "events",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("node", String(255), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("at", Float, nullable=False),
    Column("kind", String(32), nullable=False),
    Column("event", Text, nullable=False),
    Column("rule", Text, nullable=False),
    Column("phase_before", String(32), nullable=False),
    Column("phase_after", String(32), nullable=False),
    Column("reason", Text, nullable=False),
    Column("key", String(255), unique=True, nullable=True),
    UniqueConstraint("node", "seq", name="events_node_seq"),
)
actions = Table(
    "actions",
    metadata,
    Column("id", String(300), primary_key=True),
    Column("node", String(255), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("at", Float, nullable=False),
    Column("action", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("tries", Integer, nullable=False),
    Column("detail", Text, nullable=False),
    Column("settled_at", Float, nullable=False),
    Index("actions_status", "status"),
    Index("actions_node_seq", "node", "seq"),
)
attempts = Table(
    "attempts",
    metadata,
    Column("action_id", String(300), primary_key=True),
    Column("hardware", String(64), nullable=False),
    Column("attempt", Text, nullable=False),
    Index("attempts_hardware", "hardware"),
)
runs = Table(
    "runs",
    metadata,
    Column("run_id", String(300), primary_key=True),
    Column("node", String(255), nullable=False),
    Column("profile", String(64), nullable=False),
    Column("launched_at", Float, nullable=False),
    Column("finished_at", Float, nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("seconds", Float, nullable=False),
    Column("report", Text, nullable=False),
    Index("runs_node", "node"),
    Index("runs_launched_at", "launched_at"),
)
alerts = Table(
    "alerts",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", String(255), nullable=False),
    Column("text", Text, nullable=False),
    Column("raised_at", Float, nullable=False),
    Column("cleared_at", Float, nullable=False),
    Index("alerts_key", "key"),
)
