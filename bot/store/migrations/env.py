"""What Alembic runs around the revisions: the caller's connection, in the caller's transaction.

Only `bot.store.upgrade` starts this; there is no configuration file and no engine of its own.
"""

from alembic import context

from bot.store.upgrade import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
