"""Nodes, events, actions, attempts, runs, alerts."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the first tables."""
    op.create_table(
        "nodes",
        sa.Column("node", sa.String(255), primary_key=True),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("phase", sa.String(32), nullable=False),
        sa.Column("state", sa.Text, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("node", sa.String(255), nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("rule", sa.Text, nullable=False),
        sa.Column("phase_before", sa.String(32), nullable=False),
        sa.Column("phase_after", sa.String(32), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("key", sa.String(255), unique=True, nullable=True),
        sa.UniqueConstraint("node", "seq", name="events_node_seq"),
    )
    op.create_table(
        "actions",
        sa.Column("id", sa.String(300), primary_key=True),
        sa.Column("node", sa.String(255), nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("settled_at", sa.Float, nullable=False),
    )
    op.create_index("actions_status", "actions", ["status"])
    op.create_index("actions_node_seq", "actions", ["node", "seq"])
    op.create_table(
        "attempts",
        sa.Column("action_id", sa.String(300), primary_key=True),
        sa.Column("hardware", sa.String(64), nullable=False),
        sa.Column("attempt", sa.Text, nullable=False),
    )
    op.create_index("attempts_hardware", "attempts", ["hardware"])
    op.create_table(
        "runs",
        sa.Column("run_id", sa.String(300), primary_key=True),
        sa.Column("node", sa.String(255), nullable=False),
        sa.Column("profile", sa.String(64), nullable=False),
        sa.Column("launched_at", sa.Float, nullable=False),
        sa.Column("finished_at", sa.Float, nullable=False),
        sa.Column("verdict", sa.String(16), nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("report", sa.Text, nullable=False),
    )
    op.create_index("runs_node", "runs", ["node"])
    op.create_index("runs_launched_at", "runs", ["launched_at"])
    op.create_table(
        "alerts",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("raised_at", sa.Float, nullable=False),
        sa.Column("cleared_at", sa.Float, nullable=False),
    )
    op.create_index("alerts_key", "alerts", ["key"])


def downgrade() -> None:
    """Drop them."""
    for table in ("alerts", "runs", "attempts", "actions", "events", "nodes"):
        op.drop_table(table)
