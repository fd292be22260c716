"""Slack's interaction payloads, read into a few frozen records.

What can be an id of Slack's: printable ASCII, short. Ids go into queries, keys and logs. Whatever else stands in an
id's place (a NUL, half a character, a kilobyte) is not from Slack, and a database may refuse it.

Bytes from outside enter here: every field that is used is checked for type, everything else is dropped. Nothing in a
payload is believed for authority: a showing id is looked up, the person is looked up, and `value`, `private_metadata`
and the message's text are never more than that id. Shapes: SLACK payload reference, block_actions and
view_submission.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeGuard

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from bot.access.person import Actor

# Slack gives 255 characters for action and block ids, and far fewer for the rest; a view's hash and a trigger are ASCII.
LONGEST = 255
_ID = re.compile(rf"[!-~]{{1,{LONGEST}}}")

Id = Annotated[str, StringConstraints(pattern=rf"^[!-~]{{0,{LONGEST}}}$")]

# What a button carries comes back as it was sent, or as somebody made it up: any printable ASCII.
Value = Annotated[str, StringConstraints(pattern=r"^[ -~]{0,2000}$")]


def is_id(value: object) -> TypeGuard[str]:
    """Whether this can be an id."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


InputValue = str | tuple[str, ...] | None


class MalformedPayload(ValueError):
    """The payload is not one that Slack sends."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class _Team(_Part):
    id: Id


class _User(_Part):
    id: Id
    team_id: Id | None = None


class _Option(_Part):
    value: Id


class _Element(_Part):
    type: str = ""
    value: str | None = None
    selected_option: _Option | None = None
    selected_options: list[_Option] | None = None


class _State(_Part):
    values: dict[str, dict[str, _Element]] = Field(default_factory=dict)


class _Block(_Part):
    block_id: Id = ""


class _View(_Part):
    id: Id
    type: str = "modal"
    hash: Id = ""
    callback_id: Id = ""
    private_metadata: Value = ""
    root_view_id: Id | None = None
    app_installed_team_id: Id | None = None
    state: _State = Field(default_factory=_State)
    blocks: list[_Block] = Field(default_factory=list)


class _Action(_Element):
    action_id: Id
    value: Value | None = None
    block_id: Id = ""
    action_ts: Id = ""


class _Container(_Part):
    message_ts: Id | None = None
    channel_id: Id | None = None
    thread_ts: Id | None = None


class _Body(_Part):
    team: _Team | None = None
    enterprise: _Team | None = None
    user: _User
    trigger_id: Id = ""
    container: _Container | None = None
    actions: list[_Action] = Field(default_factory=list)
    view: _View | None = None


@dataclass(frozen=True, slots=True)
class ViewPayload:
    """The open modal that a payload came from."""

    id: str
    hash: str
    callback_id: str
    showing_id: str
    values: Mapping[str, InputValue]
    root_id: str | None = None
    blocks: frozenset[str] = frozenset()  # the ids of what stands in it

    @property
    def lies_on(self) -> str | None:
        """The id of the view at the bottom, where this one lies on top of another."""
        return self.root_id if self.root_id != self.id else None


@dataclass(frozen=True, slots=True)
class ButtonClick:
    """A pressed button or a changed choice."""

    actor: Actor
    action_id: str
    block_id: str
    value: str
    chosen: str | None
    action_ts: str
    trigger_id: str
    channel: str | None = None
    message_ts: str | None = None
    thread_ts: str | None = None
    view: ViewPayload | None = None

    @property
    def delivery_key(self) -> str:
        """The same for a redelivery of the same press, and for no other."""
        return f"click:{self.actor.user}:{self.action_ts}:{self.value}"


@dataclass(frozen=True, slots=True)
class Submission:
    """A submitted modal."""

    actor: Actor
    view: ViewPayload
    trigger_id: str = ""

    @property
    def delivery_key(self) -> str:
        """The same for a redelivery of the same submission, and for no other.

        A view that was answered with errors keeps its id and hash, so what tells a corrected answer from a second
        delivery of the first is the trigger, which Slack makes anew for each interaction.
        """
        view = f"{self.view.id}:{self.view.hash}:{self.trigger_id}"
        return f"submit:{self.actor.user}:{view}:{self.view.showing_id}"

    @property
    def content_key(self) -> str:
        """The same for whatever repeats this view with these inputs, by whichever trigger.

        Somebody whose client said "trouble connecting" presses Submit again: what was taken then is taken.
        """
        typed = hashlib.sha256(json.dumps(sorted(self.view.values.items())).encode()).hexdigest()
        view = f"{self.view.id}:{self.view.hash}:{typed}"
        return f"taken:{self.actor.user}:{view}:{self.view.showing_id}"


def _value(element: _Element) -> InputValue:
    if element.selected_options is not None:
        return tuple(option.value for option in element.selected_options)
    return element.selected_option.value if element.selected_option else element.value


def _view(view: _View | None) -> ViewPayload | None:
    """Inputs by block id: each of our input blocks holds one element."""
    if view is None or view.type == "home":
        return None  # a press in the Home tab is like one on a card: what it opens is opened, not stacked
    values = {
        block: _value(element) for block, held in view.state.values.items() for element in list(held.values())[:1]
    }
    blocks = frozenset(block.block_id for block in view.blocks)
    return ViewPayload(view.id, view.hash, view.callback_id, view.private_metadata, values, view.root_view_id, blocks)


def _read(body: Mapping[str, Any]) -> _Body:
    try:
        return _Body.model_validate(dict(body))
    except ValidationError as exc:
        raise MalformedPayload("this payload lacks what Slack always sends") from exc


def _actor(body: _Body) -> Actor:
    """The installation's team first from the view, as Bolt resolves it.

    Where an organisation installed the app there may be no `team`: the organisation is named instead.
    """
    view, team, org = body.view, body.team, body.enterprise
    place = (view and view.app_installed_team_id) or (team and team.id) or (org and org.id) or body.user.team_id
    if not place:
        raise MalformedPayload("this payload names no workspace")
    return Actor(place, body.user.id, body.user.team_id)


def parse_click(body: Mapping[str, Any]) -> ButtonClick:
    """A block_actions payload. Raises `MalformedPayload`."""
    read = _read(body)
    if not read.actions:
        raise MalformedPayload("this payload holds no action")
    action, box = read.actions[0], read.container or _Container()
    chosen = action.selected_option.value if action.selected_option else None
    return ButtonClick(
        actor=_actor(read),
        action_id=action.action_id,
        block_id=action.block_id,
        value=action.value or "",
        chosen=chosen,
        action_ts=action.action_ts,
        trigger_id=read.trigger_id,
        channel=box.channel_id,
        message_ts=box.message_ts,
        thread_ts=box.thread_ts,
        view=_view(read.view),
    )


def parse_submission(body: Mapping[str, Any]) -> Submission:
    """A view_submission payload. Raises `MalformedPayload`."""
    read = _read(body)
    view = _view(read.view)
    if view is None:
        raise MalformedPayload("this payload holds no view")
    return Submission(_actor(read), view, read.trigger_id)


class _Command(_Part):
    team_id: Id | None = None
    enterprise_id: Id | None = None
    user_id: Id
    text: str = ""


def parse_command(body: Mapping[str, Any]) -> tuple[Actor, str]:
    """Who typed a slash command, and what. Raises `MalformedPayload`."""
    try:
        read = _Command.model_validate(dict(body))
    except ValidationError as exc:
        raise MalformedPayload("this command lacks what Slack always sends") from exc
    team = read.team_id or read.enterprise_id
    if not team or not read.user_id:
        raise MalformedPayload("this command names no workspace or nobody")
    return Actor(team, read.user_id, None), read.text


class _Opened(_Part):
    user: Id
    tab: str | None = None


class _Event(_Part):
    team_id: Id | None = None
    enterprise_id: Id | None = None
    event: _Opened


def parse_opened(body: Mapping[str, Any]) -> Actor | None:
    """Who looks at their Home tab, None for another tab. Raises `MalformedPayload`."""
    try:
        read = _Event.model_validate(dict(body))
    except ValidationError as exc:
        raise MalformedPayload("this event lacks what Slack always sends") from exc
    team = read.team_id or read.enterprise_id
    if not team or not read.event.user:
        raise MalformedPayload("this event names no workspace or nobody")
    return Actor(team, read.event.user, None) if read.event.tab in (None, "home") else None
