"""What Slack refuses in a modal or a Home tab."""

import json
from collections.abc import Iterator
from typing import Any

from bot.sandbox.slack.blockkit import limits, texts
from bot.sandbox.slack.blockkit.blocks import blocks
from bot.sandbox.slack.blockkit.checks import Check, Finding, boolean, by_type, every, obj, one_of, string
from bot.sandbox.slack.blockkit.problem import Problem
from bot.sandbox.slack.records import Json

_COMMON: dict[str, Check] = {
    "private_metadata": string(limits.PRIVATE_METADATA),
    "callback_id": string(limits.CALLBACK_ID),
    "external_id": string(limits.EXTERNAL_ID),
}


def _submit_for_inputs(value: Any, at: str) -> Iterator[Finding]:
    if "submit" not in value and any(block["type"] == "input" for block in value["blocks"]):
        yield at, "missing required field: submit (a view with an input block needs it)"


_MODAL = every(
    obj(
        {
            "type": one_of("modal"),
            "title": texts.plain_text(limits.VIEW_TITLE),
            "blocks": blocks(limits.VIEW_BLOCKS),
        },
        {
            **_COMMON,
            "submit": texts.plain_text(limits.VIEW_SUBMIT),
            "close": texts.plain_text(limits.VIEW_CLOSE),
            "clear_on_close": boolean,
            "notify_on_close": boolean,
        },
    ),
    _submit_for_inputs,
)
_HOME = obj({"type": one_of("home"), "blocks": blocks(limits.VIEW_BLOCKS)}, _COMMON)
_VIEW = by_type({"modal": _MODAL, "home": _HOME})


def problems_in_view(view: Json) -> list[Problem]:
    """Return what views.open, push, update or publish would refuse; the first problem's error is the answer's."""
    problems = [Problem("invalid_arguments", at, says) for at, says in _VIEW(view, "/view")]
    if not problems and len(json.dumps(view).encode()) > limits.VIEW_BYTES:
        problems.append(Problem("view_too_large", None, f"a view has at most {limits.VIEW_BYTES} bytes"))
    return problems
