"""Which of several workers runs which test: all tests on one real server, and all in the browser, share a worker.

A session's fixture is started once in each worker that wants it, and a server for each worker is what the machine cannot
carry. The tests' own ids say where they belong: xdist's groups by mark never reach it under this pytest, whose ids are
no longer what xdist appends them to.
"""

from __future__ import annotations

import re

import pytest

_SERVER = re.compile(r"\[(aegra|langgraph_dev)\b")


def place_of(nodeid: str) -> str:
    """What a test shares a worker with; its own id where it may run anywhere."""
    if nodeid.startswith("tests/browser/"):
        return "browser"
    server = _SERVER.search(nodeid)
    if server:
        return server[1]
    return "aegra" if nodeid.startswith(("tests/live/test_placet_races", "tests/live/test_placet_fence")) else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """xdist's way of keeping tests together, with our idea of what belongs together."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class ByPlace(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return place_of(nodeid)

    return ByPlace(config, log)
