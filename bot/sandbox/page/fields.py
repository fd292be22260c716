"""Interactive elements as a form shows them: what is chosen or typed, what may be chosen, and what is wrong with it.

A projection of an element and the state that the workspace keeps for it; the templates need no Block Kit beyond it.
"""

from dataclasses import dataclass
from hashlib import blake2s

from bot.sandbox.slack.dress import STATEFUL
from bot.sandbox.slack.records import Json
from bot.sandbox.slack.state import initial

CHOICES = frozenset(
    {"static_select", "radio_buttons", "checkboxes", "users_select", "datepicker", "timepicker", "datetimepicker"}
)
_CHARACTERS, _ENTER = "on_character_entered", "on_enter_pressed"


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose; `text` and `description` are text objects."""

    value: str
    text: Json
    description: Json | None
    chosen: bool


@dataclass(frozen=True, slots=True)
class OptionGroup:
    """Options under a heading; without one, they stand bare."""

    label: Json | None
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class FormField:
    """One element that holds a value.

    `dom_id` is the same for the same block_id and action_id, which is what keeps a person's typing through a redraw.
    `sends` says when the app hears of it while it is filled in: `change`, `character`, `enter`, or never ("").
    """

    dom_id: str
    kind: str
    block_id: str
    action_id: str
    value: str
    groups: tuple[OptionGroup, ...]
    sends: str
    error: str
    element: Json

    @property
    def options(self) -> tuple[Option, ...]:
        return tuple(option for group in self.groups for option in group.options)


def dom_id(*parts: str) -> str:
    """Return an id for the page: the same for the same parts, without a character that an id may not have."""
    return f"f-{blake2s(chr(0).join(parts).encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


def read_field(block: Json, element: Json, *, scope: str, held: Json | None, error: str = "") -> FormField:
    """Return an element with its state; `held` is that state, none where nothing but the initial value is known.

    `scope` names the message or view: elsewhere on the page the same ids may stand again.
    """
    state = held or initial(element)
    value = state[STATEFUL[element["type"]][0]]
    return FormField(
        dom_id=dom_id(scope, block["block_id"], element["action_id"]),
        kind=element["type"],
        block_id=block["block_id"],
        action_id=element["action_id"],
        value=str(value) if isinstance(value, str | int) else "",
        groups=_groups(element, _chosen(value)),
        sends=_sends(block, element),
        error=error,
        element=element,
    )


def _chosen(value: object) -> frozenset[str]:
    options = value if isinstance(value, list) else [value]
    return frozenset(option["value"] for option in options if isinstance(option, dict))


def _groups(element: Json, chosen: frozenset[str]) -> tuple[OptionGroup, ...]:
    bare = [{"label": None, "options": element["options"]}] if element.get("options") else []
    return tuple(
        OptionGroup(group["label"], tuple(_option(option, chosen) for option in group["options"]))
        for group in [*bare, *element.get("option_groups", [])]
    )


def _option(option: Json, chosen: frozenset[str]) -> Option:
    return Option(option["value"], option["text"], option.get("description"), option["value"] in chosen)


def _sends(block: Json, element: Json) -> str:
    if block["type"] == "input" and not block.get("dispatch_action"):
        return ""
    if element["type"] in CHOICES:
        return "change"
    wanted = element.get("dispatch_action_config", {}).get("trigger_actions_on", [_ENTER])
    return "character" if _CHARACTERS in wanted else "enter"
