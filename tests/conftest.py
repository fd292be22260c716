"""What every test starts from: an environment that says nothing to Placet."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import structlog

# Fixtures of several folders stand in plugins, so that each server starts once for the whole run.
pytest_plugins = (
    "tests.kit.engines",
    "tests.kit.office_fixtures",
    "tests.kit.processes",
    "tests.kit.live_fixtures",
    "tests.kit.spread",
)

OURS = ("SLACK_", "PLACET_")
# Switches of the tests themselves, read by no program.
KEPT = ("PLACET_UPDATE_SNAPSHOTS", "PLACET_TEST_")


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own tokens and database must never reach a test."""
    for name in list(os.environ):
        if name.startswith(OURS) and not name.startswith(KEPT):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _structlog_as_it_comes() -> Iterator[None]:
    """A command that a test runs sets structlog up for the whole process: the next test starts from the defaults."""
    yield
    structlog.reset_defaults()
