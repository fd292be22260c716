"""In how many replicas, and on which engine, the rows about authority run.

What decides who may do what is read from the store at every press and asked of Slack at every dispatch, by whichever
replica is at hand; nothing of it is kept by a process. So a row can go wrong with the number of replicas (one sees what
the other has not read), or with the engine (a lock, a snapshot), and hardly ever with the pair alone. One replica on SQLite
and two on PostgreSQL therefore cover both sides at the price of one run each. Rows whose failure would let somebody decide
who may not are crossed all the same: they run in all four.
"""

from __future__ import annotations

import pytest

ONE_AND_TWO = {"sqlite": 1, "postgresql": 2}
crossed = pytest.mark.parametrize("replicas", [1, 2], ids=["one_replica", "two_replicas"])
