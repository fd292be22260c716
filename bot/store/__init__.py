"""What is stored: one database, SQLite or PostgreSQL, and the transactions that change it.

Every function here takes a transaction and nothing else of ours that lives: several of them compose into one commit.
The database decides every race; this package must not know Slack, agent servers, or what a policy means.
"""

from bot.store.engine import Store, Tx
from bot.store.upgrade import migrate, open_store

__all__ = ["Store", "Tx", "migrate", "open_store"]
