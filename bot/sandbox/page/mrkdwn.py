"""Slack's mrkdwn read into spans: styles, code, quotes, and what stands in angle brackets.

It follows what Slack documents (docs.slack.dev, formatting message text); where that is silent, a mark that is not clearly
formatting stays text. Links are only made of what is in angle brackets, or of bare addresses unless `verbatim`.
"""

import re
from collections.abc import Callable, Iterator

from bot.sandbox.page.emoji import with_emoji
from bot.sandbox.page.names import Names
from bot.sandbox.page.spans import Kind, Span

_FENCE = re.compile(r"```(.+?)```\n?", re.DOTALL)
_QUOTE = re.compile(r"(?:^(?:>|&gt;).*(?:\n|\Z))+", re.MULTILINE)
_INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|<(?P<angle>[^<>\n]+)>"
    r"|(?<![\w*])\*(?P<bold>(?=\S)[^*\n]+(?<=\S))\*(?![\w*])"
    r"|(?<![\w_])_(?P<italic>(?=\S)[^_\n]+(?<=\S))_(?![\w_])"
    r"|(?<![\w~])~(?P<strike>(?=\S)[^~\n]+(?<=\S))~(?![\w~])"
    r"|(?P<address>https?://[^\s<>|]+)"
)
_DATE = re.compile(r"!date\^(\d{1,12})\^([^^|]+)(?:\^([^|]*))?(?:\|(.*))?")
_GROUP = re.compile(r"!subteam\^(\w+)")


def read_mrkdwn(text: str, names: Names, *, verbatim: bool = False) -> tuple[Span, ...]:
    """Return the pieces of a mrkdwn text."""
    return tuple(_pieces(_FENCE, text, lambda found: _fence(found[1]), lambda rest: _quotes(rest, names, verbatim)))


def _pieces(
    pattern: re.Pattern[str],
    text: str,
    matched: Callable[[re.Match[str]], Span],
    between: Callable[[str], Iterator[Span]],
) -> Iterator[Span]:
    """Yield a span for each match, and what `between` makes of the text around them."""
    at = 0
    for found in pattern.finditer(text):
        yield from between(text[at : found.start()])
        yield matched(found)
        at = found.end()
    yield from between(text[at:])


def _fence(text: str) -> Span:
    return Span("pre", plain(text.strip("\n")))


def _quotes(text: str, names: Names, verbatim: bool) -> Iterator[Span]:  # noqa: FBT001 - passed through
    def quote(found: re.Match[str]) -> Span:
        lines = [re.sub(r"^(?:>|&gt;) ?", "", line) for line in found[0].rstrip("\n").split("\n")]
        return Span("quote", inner=tuple(_inline("\n".join(lines), names, verbatim)))

    yield from _pieces(_QUOTE, text, quote, lambda rest: _inline(rest, names, verbatim))


def _inline(text: str, names: Names, verbatim: bool) -> Iterator[Span]:  # noqa: FBT001 - passed through
    def one(found: re.Match[str]) -> Span:
        kind, inside = str(found.lastgroup), found[str(found.lastgroup)]
        if kind == "code":
            return Span("code", plain(inside))
        if kind == "angle":
            return _angle(inside, names)
        if kind == "address":
            return Span("text", plain(inside)) if verbatim else Span("link", plain(inside), target=plain(inside))
        return _nested(kind, tuple(_inline(inside, names, verbatim)))

    yield from _pieces(_INLINE, text, one, _words)


def _nested(kind: str, inner: tuple[Span, ...]) -> Span:
    kinds: dict[str, Kind] = {"bold": "bold", "italic": "italic", "strike": "strike"}
    return Span(kinds[kind], inner=inner)


def _words(text: str) -> Iterator[Span]:
    if text:
        yield Span("text", with_emoji(plain(text)))


def _angle(inside: str, names: Names) -> Span:
    """Read what stands between angle brackets: a mention, a date or a link."""
    target, _, label = inside.partition("|")
    if date := _DATE.fullmatch(inside):
        return Span("date", plain(date[4] or date[1]), target=date[2], unix=int(date[1]))
    if group := _GROUP.match(target):
        return Span("mention", f"@{names.group(group[1])}")
    if target.startswith("!"):
        return Span("mention", f"@{target[1:]}")
    if target.startswith("@"):
        return Span("mention", f"@{names.person(target[1:])}")
    if target.startswith("#"):
        return Span("mention", f"#{names.channel(target[1:])}")
    return Span("link", plain(label or target), target=plain(target))


def plain(text: str) -> str:
    """Return text with Slack's three entities read; there are no others."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
