"""Pieces of formatted text, and the one place where they become HTML.

Both of Slack's notations (mrkdwn and rich text) are read into these, so that escaping stands once: every text goes
through `Markup.format`, which escapes it. It knows no notation.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup, escape

Style = Literal["bold", "italic", "strike", "code"]
Kind = Style | Literal["text", "pre", "quote", "mention", "link", "date"]

_AROUND: dict[str, Markup] = {
    "bold": Markup("<b>{}</b>"),
    "italic": Markup("<i>{}</i>"),
    "strike": Markup("<s>{}</s>"),
    "code": Markup("<code>{}</code>"),
    "pre": Markup("<pre>{}</pre>"),
    "quote": Markup("<blockquote>{}</blockquote>"),
    "mention": Markup('<span class="mention">{}</span>'),
}
_LINK = Markup('<a href="{}" target="_blank" rel="noopener noreferrer">{}</a>')
_DATE = Markup('<time data-unix="{}" data-format="{}">{}</time>')
_SAFE = ("https://", "http://", "mailto:")


@dataclass(frozen=True, slots=True)
class Span:
    """One piece: `text`, or `inner` pieces. `target` is a link's address or a date's format, `unix` a date's moment.

    A date's text is what to show where no script can put it into the reader's own zone.
    """

    kind: Kind
    text: str = ""
    inner: tuple["Span", ...] = ()
    target: str = ""
    unix: int = 0


def styled(span: Span, styles: Iterable[Style]) -> Span:
    """Wrap a piece in styles, the last of them outermost."""
    for style in styles:
        span = Span(style, inner=(span,))
    return span


def html(spans: Iterable[Span]) -> Markup:
    """Return pieces as HTML. A link that is not to the web or to a mailbox stays text."""
    return Markup().join(_html(span) for span in spans)


def _html(span: Span) -> Markup:
    content = html(span.inner) if span.inner else escape(span.text)
    if span.kind == "link":
        return _LINK.format(span.target, content) if span.target.lower().startswith(_SAFE) else content
    if span.kind == "date":
        return _DATE.format(span.unix, span.target, content)
    return _AROUND[span.kind].format(content) if span.kind in _AROUND else content


def spoken(spans: Iterable[Span]) -> str:
    """Return pieces as plain text, as they would be read out: links by their words, dates in the words given for them."""
    return "".join(spoken(span.inner) if span.inner else span.text for span in spans)
