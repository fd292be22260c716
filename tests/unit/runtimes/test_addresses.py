import pytest
from httpx import URL
from hypothesis import given
from hypothesis import strategies as st

from bot.core.model import Target
from bot.errors import AgentRejected, ConfigurationError
from bot.runtimes.langgraph.transport import AgentServer, path


@pytest.mark.parametrize("segment", ["", ".", "..", "\ud800"])
def test_a_segment_that_would_vanish_or_climb_is_refused(segment: str) -> None:
    with pytest.raises(AgentRejected):
        path("threads", segment, "state")


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda s: s not in (".", "..")))
def test_any_other_segment_stays_one_segment_for_the_client_that_sends_it(segment: str) -> None:
    sent = URL("http://server" + path("threads", segment, "state")).raw_path

    assert sent == path("threads", segment, "state").encode()
    assert sent.count(b"/") == 3
    assert b"?" not in sent


@pytest.mark.parametrize("identity", ["", " a", "a ", "a\r\nX-User-Id: root", "a\nb", "né", "a\x00", "x" * 300])
def test_an_identity_that_cannot_stand_in_a_header_is_a_configuration_error(identity: str) -> None:
    with pytest.raises(ConfigurationError):
        AgentServer("http://server", "aegra", identity)


def test_a_key_that_cannot_stand_in_a_header_is_refused_without_being_told() -> None:
    with pytest.raises(ConfigurationError) as caught:
        AgentServer("http://server", "aegra", "approvals", "s3cret\n")

    assert "s3cret" not in str(caught.value)


def test_a_key_never_shows_in_a_servers_repr() -> None:
    assert "s3cret" not in repr(AgentServer("http://server", "aegra", "approvals", "s3cret"))


def test_a_stored_target_names_its_server() -> None:
    target = Target("http://server/", "langgraph", "app-1", "ops")

    assert AgentServer.of(target, "k") == AgentServer("http://server/", "langgraph", "app-1", "k")


def test_an_address_keeps_the_servers_base_path() -> None:
    assert AgentServer("http://server/base/", "aegra", "a").at("/threads") == "http://server/base/threads"
