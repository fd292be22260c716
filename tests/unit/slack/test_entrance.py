"""What Slack sends comes in, whatever else stands in it; what Bolt or a database would stumble over does not."""

from __future__ import annotations

import pytest

from bot.slack.inbound.shape_guard import is_readable

ACTION = {"type": "button", "action_id": "decide.approve", "block_id": "act", "value": "s_x", "action_ts": "1.2"}
USER = {"id": "U0ADA", "username": "ada", "name": "Ada Ä", "team_id": "T0DEMO"}
PRESS = {"type": "block_actions", "team": {"id": "T0DEMO", "domain": "x"}, "user": USER, "actions": [ACTION]}
VIEW = {"id": "V0", "type": "modal", "callback_id": "reject", "title": {"type": "plain_text", "text": "Nein, ä"}}
EVENT = {"type": "event_callback", "team_id": "T0DEMO", "event_id": "Ev0", "authorizations": [{"team_id": "T0DEMO"}]}

SENT = {
    "a press": PRESS,
    "a press in an organisation": PRESS | {"team": None, "enterprise": {"id": "E0ORG", "name": "Org Ü"}},
    "a choice": PRESS | {"actions": [ACTION | {"type": "overflow", "selected_option": {"value": "repair:s_x"}}]},
    "a press in the Home tab": PRESS | {"view": {"id": "V0", "type": "home", "callback_id": ""}},
    "a submission": {"type": "view_submission", "team": {"id": "T0DEMO"}, "user": USER, "view": VIEW},
    "a closed window": {"type": "view_closed", "user": USER, "view": VIEW, "is_cleared": False},
    "a changed account": EVENT
    | {"event": {"type": "user_change", "user": {"id": "U0ADA", "profile": {"title": "ä\n"}}}},
    "a changed group": EVENT | {"event": {"type": "subteam_updated", "subteam": {"id": "S0", "name": "Stütze"}}},
    "a message": EVENT | {"event": {"type": "message", "channel": "C0", "text": "ä", "user": "U0", "bot_id": None}},
    "a channel's event": EVENT | {"event": {"type": "channel_rename", "channel": {"id": "C0", "name": "ä"}}},
    "revoked tokens": EVENT | {"event": {"type": "tokens_revoked", "tokens": {"bot": ["U0BOT"]}}},
    "a command": {"command": "/approvals", "text": "who ä\x00", "user_id": "U0ADA", "team_id": "T0DEMO"},
    "a check of the address": {"type": "url_verification", "challenge": "x", "token": "y"},
}
STRANGE = {
    "no object": [PRESS],
    "no action": PRESS | {"actions": []},
    "an action without its id": PRESS | {"actions": [{"type": "button"}]},
    "a number for a person": PRESS | {"user": 7},
    "a NUL in an id": PRESS | {"user": USER | {"id": "U0\x00"}},
    "half a character in an id": PRESS | {"team": {"id": "\ud800"}},
    "an id without end": PRESS | {"user": USER | {"id": "U" * 300}},
    "a submission of nothing": {"type": "view_submission", "user": USER, "view": None},
    "an event that is none": EVENT | {"event": None},
    "a list for an event": EVENT | {"event": []},
    "a number for the type": {"type": 7},
    "a command by nobody that can be": {"command": "/approvals", "user_id": "\ud800"},
}


@pytest.mark.parametrize("what", SENT)
def test_what_slack_sends_is_readable(what):
    assert is_readable(SENT[what])


@pytest.mark.parametrize("what", STRANGE)
def test_what_nobody_sends_is_not(what):
    assert not is_readable(STRANGE[what])
