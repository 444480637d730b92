"""Runs migrations on the connection that the caller hands in; there is no alembic.ini and no second way in."""

from alembic import context

from runtime.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
