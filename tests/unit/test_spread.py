"""Tests on one server share a worker, whichever folder they stand in."""

import pytest

from tests.kit.spread import place_of


@pytest.mark.parametrize(
    ("nodeid", "place"),
    [
        ("tests/live/test_placet_calls.py::test_x[aegra-runs]", "aegra"),
        ("tests/unit/runtimes/test_journeys.py::test_x[langgraph_dev]", "langgraph_dev"),
        ("tests/live/test_placet_races.py::test_x", "aegra"),
        ("tests/live/test_placet_fence.py::test_x", "aegra"),
        ("tests/browser/test_browser_demo.py::test_x", "browser"),
        (
            "tests/unit/runtimes/test_journeys.py::test_x[sandbox-aegra]",
            "tests/unit/runtimes/test_journeys.py::test_x[sandbox-aegra]",
        ),
        ("tests/unit/core/test_judge.py::test_x", "tests/unit/core/test_judge.py::test_x"),
    ],
)
def test_a_test_goes_where_its_server_is(nodeid, place):
    assert place_of(nodeid) == place
