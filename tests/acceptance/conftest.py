"""Acceptance rows run in an office (`tests.kit.office_fixtures`) on each engine (`tests.kit.engines`); both are plugins of the whole run.

How many replicas share the work is said by a module's `REPLICAS` or by a test's `crossed` (`tests.kit.crossing`).
"""

from __future__ import annotations

import pytest


@pytest.fixture
def replicas(request, database):
    """How many replicas the test's module wants on this engine; 1 where it does not say."""
    wanted = getattr(request.module, "REPLICAS", {})
    return wanted.get(database.partition("+")[0], 1)


@pytest.fixture
def office_of(office_of, replicas):
    """The office, with that many replicas unless a test names its own number."""

    def make(**lines):
        return office_of(**{"replicas": replicas, **lines})

    return make
