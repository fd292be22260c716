"""What a template may ask while it draws blocks: texts as HTML, elements as fields, names of people.

One sight belongs to one message or view, because the same element shows other values in another place.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from markupsafe import Markup

from bot.sandbox.page.emoji import with_emoji
from bot.sandbox.page.fields import FormField, read_field
from bot.sandbox.page.mrkdwn import read_mrkdwn
from bot.sandbox.page.names import Names
from bot.sandbox.page.richtext import read_line
from bot.sandbox.page.spans import Span, html, spoken
from bot.sandbox.slack.dress import STATEFUL
from bot.sandbox.slack.records import Json

Values = Mapping[str, Mapping[str, Json]]


@dataclass(frozen=True, slots=True)
class PageView:
    """`scope` keeps ids on the page apart. `values` and `errors` are a view's, by block_id; a message has neither."""

    names: Names
    scope: str = ""
    values: Values = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)

    def text(self, given: Json | None) -> Markup:
        """Return a text object as HTML."""
        return html(self._spans(given)) if given else Markup()

    def _spans(self, given: Json) -> tuple[Span, ...]:
        if given["type"] == "mrkdwn":
            return read_mrkdwn(given["text"], self.names, verbatim=bool(given.get("verbatim")))
        return (Span("text", self.plain(given)),)

    def plain(self, given: Json | None) -> str:
        """Return a plain_text object as the text it shows; nothing for none."""
        if given is None:
            return ""
        return with_emoji(given["text"]) if given.get("emoji", True) else str(given["text"])

    def message(self, text: str) -> Markup:
        """Return the text of a message without blocks."""
        return html(read_mrkdwn(text, self.names))

    def spoken(self, text: str) -> str:
        """Return the text of a message as a screen reader says it."""
        return spoken(read_mrkdwn(text, self.names))

    def line(self, elements: list[Json]) -> Markup:
        """Return a line of rich text as HTML."""
        return html(read_line(elements, self.names))

    def field(self, block: Json, element: Json) -> FormField:
        """Return an element with what is typed or chosen in it here."""
        held = self.values.get(block["block_id"], {}).get(element["action_id"])
        error = self.errors.get(block["block_id"], "") if block["type"] == "input" else ""
        return read_field(block, element, scope=self.scope, held=held, error=error)

    def holds_value(self, element: Json) -> bool:
        """Return whether an element is filled in rather than pressed."""
        return element["type"] in STATEFUL

    def people(self) -> list[tuple[str, str]]:
        """Return whom a person can be asked to choose from."""
        return [(person.id, person.name) for person in self.names.world.people.values() if not person.deleted]
