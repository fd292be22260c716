"""The first schema: every table of the code.

No database has been released yet, so the tables are made from their definitions. The first release freezes this file
into statements of its own; what changes after that is a revision beside it.
"""

from alembic import op

from bot.store import tables
from bot.store.rows import metadata

revision = "0001"
down_revision = None

_DEFINED_IN = (tables, tables)  # importing them fills `metadata`


def upgrade() -> None:
    """Create all tables."""
    metadata.create_all(op.get_bind())
