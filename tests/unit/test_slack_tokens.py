"""The file of tokens: read whole or refused in one line, and no token in the line."""

from __future__ import annotations

import pytest

from bot.errors import ConfigurationError
from bot.settings import read, read_tokens, require_slack


@pytest.fixture
def file_of(tmp_path):
    def write(text):
        path = tmp_path / "tokens.yaml"
        path.write_text(text)
        return path

    return write


def test_each_team_has_its_token_or_the_name_of_a_variable(file_of):
    path = file_of("T0ACME: xoxb-acme\nT0OTHER: env:SLACK_BOT_TOKEN_OTHER\n")
    found = read_tokens(path, {"SLACK_BOT_TOKEN_OTHER": "xoxb-other"})
    assert found == {"T0ACME": "xoxb-acme", "T0OTHER": "xoxb-other"}


def test_json_is_read_too(file_of):
    assert read_tokens(file_of('{"T0ACME": "xoxb-acme"}'), {}) == {"T0ACME": "xoxb-acme"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "must map team ids"),
        ("- xoxb-secret", "must map team ids"),
        ("T0ACME: [xoxb-secret", "neither YAML nor JSON"),
        ("T0ACME: xapp-secret", "must start with xoxb-"),
        ("T0ACME: 5", "must start with xoxb-"),
        ("acme: xoxb-secret", "is not a team id"),
        ("T0ACME: env:SLACK_NOT_SET", "which is not set"),
        ("T0ACME: env:HOME", "does not begin with SLACK_"),
        ("T0ACME: xoxb-secret\nT0OTHER: xoxb-secret", "the same token"),
    ],
)
def test_a_faulty_file_is_one_line_without_a_token(file_of, text, says):
    with pytest.raises(ConfigurationError, match=says) as caught:
        read_tokens(file_of(text), {"HOME": "xoxb-secret"})
    assert "secret" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_tokens(tmp_path / "none.yaml", {})


def test_one_token_and_a_file_of_tokens_contradict_each_other(file_of):
    path = file_of("T0ACME: xoxb-acme")
    both = {"SLACK_BOT_TOKEN": "xoxb-acme", "PLACET_SLACK_TOKENS": str(path), "SLACK_SIGNING_SECRET": "s"}
    with pytest.raises(ConfigurationError, match="both set"):
        require_slack(read(both))


def test_a_file_of_tokens_is_enough(file_of):
    path = file_of("T0ACME: xoxb-acme")
    require_slack(read({"PLACET_SLACK_TOKENS": str(path), "SLACK_SIGNING_SECRET": "s"}))
