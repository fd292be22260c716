"""Real agent servers for a whole session, started when the first test asks; skipped, with the reason, where they cannot be."""

import pytest

from tests.live.pythons import NoPython
from tests.live.servers import aegra_server, langgraph_server
from tests.postgres import running_postgres


@pytest.fixture(scope="session")
def aegra(tmp_path_factory):
    """Aegra with a PostgreSQL of its own."""
    folder = tmp_path_factory.mktemp("aegra")
    try:
        with running_postgres(folder) as postgres, aegra_server(folder, postgres) as server:
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


def pytest_collection_modifyitems(items):
    """The first live test may have to build a server's environment from the package registry."""
    for item in items:
        if item.get_closest_marker("live") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(900))
