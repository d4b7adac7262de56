"""Alembic's entry: runs the migrations on the connection handed in by store.sql."""

from alembic import context

from greenroom.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
