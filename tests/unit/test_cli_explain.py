"""`placet policy explain` at the command line: ids are ids, and a name is not taken for a person without rights."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from bot.cli.main import app
from bot.errors import ConfigurationError
from tests.kit.office import policy_text


@pytest.fixture
def explain(tmp_path):
    path = tmp_path / "policy.yaml"
    more = '      "disable_*": {channel: C0USERS, after_unknown: hold, decisions: [approve, reject]}\n'
    path.write_text(policy_text("http://127.0.0.1:9", shows="[org]", tools=more))

    def run(*arguments):
        told = ["policy", "explain", "--tenant", "demo", "--tool", "disable_user", "--file", str(path), *arguments]
        return CliRunner().invoke(app, told)

    return run


@pytest.mark.parametrize("user", ["ben", "@ben", "u0ben", "<@U0BEN>", "ben@example.com", "S0SUPPORT", "", " U0BEN"])
def test_a_name_where_a_user_id_belongs_is_an_error_that_shows_an_id(explain, user):
    result = explain("--user", user)

    assert isinstance(result.exception, ConfigurationError)
    assert "is not a Slack user id" in str(result.exception)
    assert "like U0LEAD" in str(result.exception)
    assert result.output == ""


def test_a_group_s_handle_is_an_error_that_shows_an_id(explain):
    result = explain("--user", "U0BEN", "--group", "support")

    assert "is not a Slack user group id" in str(result.exception)


def test_ids_are_explained(explain):
    result = explain("--user", "U0BEN", "--group", "S0SUPPORT")

    assert result.exit_code == 0
    assert "approve  yes" in result.output
    assert "cards show, of what a run was started with: org" in result.output
    assert "cards go to C0USERS" in result.output
    assert "does not say what a call allows: approve, reject" in result.output
    assert "are held back" in result.output
