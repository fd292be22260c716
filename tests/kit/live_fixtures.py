"""Real agent servers, each started once in a run, whichever folder's test asks first.

A plugin of the whole suite and not a conftest: fixtures that two conftests import are two fixtures, and would start two
servers of a kind. Where a server cannot be had, its tests are skipped and say why.
"""

from __future__ import annotations

import pytest

from tests.live.pythons import NoPython
from tests.live.servers import aegra_server, langgraph_server


@pytest.fixture(scope="session")
def aegra(tmp_path_factory, postgres):
    """Aegra on a database of its own."""
    try:
        with aegra_server(tmp_path_factory.mktemp("aegra"), postgres) as server:
            yield server
    except NoPython as missing:
        pytest.skip(f"Aegra not run: {missing}")


@pytest.fixture(scope="session")
def langgraph_dev(tmp_path_factory):
    """LangGraph's development server."""
    try:
        with langgraph_server(tmp_path_factory.mktemp("langgraph")) as server:
            yield server
    except NoPython as missing:
        pytest.skip(f"langgraph dev not run: {missing}")


@pytest.fixture(params=["aegra", "langgraph_dev"])
def live_server(request):
    """Each real server in turn."""
    return request.getfixturevalue(request.param)


def pytest_itemcollected(item):
    """The first live test may have to build a server's environment from the package registry."""
    if item.get_closest_marker("live") and not item.get_closest_marker("timeout"):
        item.add_marker(pytest.mark.timeout(900))


def pytest_collection_modifyitems(config, items):
    """The matrix takes minutes and builds six environments: it runs where the expression of `-m` names it."""
    if "matrix" in (config.option.markexpr or ""):
        return
    left_out = [item for item in items if item.get_closest_marker("matrix")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("matrix")]
