"""The Home tab of one person, and what a slash command answers.

What a slash command answers: one person's queue, who may decide a tool, and help. It exists for people who would
rather type than search a channel. It offers no decision: that is for cards, modals and the Home tab. What the agent
or the asker wrote stands in code style only.

The Home tab of one person: what awaits them, as cards of their own, and what they decided lately. It exists so that a
reviewer need not search channels. Each card is the very card of the channel, drawn for this person, under a showing
of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from blocks import call as said
from blocks import elements, ids, limits, rows, words
from blocks.args import name_text
from blocks.cards import call_card
from blocks.elements import Json
from blocks.models import CallView, OfferView, Rendered
from blocks.text import cut_by_weight, cut_plain, on_one_line

LISTED: Final = 20


@dataclass(frozen=True, slots=True)
class RuleLine:
    """One rule about a tool: the person or the group that it names, and what it does, as evidence words it."""

    user: str | None
    group: str | None
    says: str


@dataclass(frozen=True, slots=True)
class WhoView:
    """Who may decide a tool in one tenant."""

    tenant: str
    approvals: int
    rules: tuple[RuleLine, ...]


def queue_answer(calls: Sequence[CallView], ask: str | None, looked_through: int | None = None) -> Rendered:
    """The calls that await somebody, riskiest and oldest first; ``ask``: why there can be none.

    ``looked_through``: there may be more, since only so many were looked through.
    """
    if ask is not None:
        return Rendered([elements.section(ask)], ask)
    if not calls:
        return Rendered(
            [elements.section(f"*{words.NOTHING_AWAITS}.* {words.NOTHING_MORE}")], f"{words.NOTHING_AWAITS}."
        )
    title = words.AWAITS.format(calls=words.several(len(calls), "call", "calls"))
    items = [elements.lines(item(call)) for call in calls[:LISTED]]
    left = len(calls) - LISTED
    notes = [words.QUEUE_MORE.format(count=left)] if left > 0 else []
    listed = elements.rich([{"type": "rich_text_list", "style": "ordered", "indent": 0, "elements": items}])
    context = elements.context([*notes, words.QUEUE_WHERE])
    return Rendered([elements.header(title), *more(looked_through), listed, *context], title)


def more(looked_through: int | None) -> list[Json]:
    """That a list may be cut, if it may be."""
    return (
        []
        if looked_through is None
        else elements.context([words.AWAITS_MORE.format(count=words.count(looked_through))])
    )


def item(call: CallView) -> list[Json]:
    """One call on one line: its title, its tool, the values that would run, its tenant."""
    title = "" if said.is_question(call) else cut_plain(on_one_line(call.title or ""), limits.ROOT_PREVIEW)
    title = words.HIGH_RISK.format(title=title) if call.risk == "high" else title
    line = [elements.words(f"{title}  ", bold=call.risk == "high")] if title.strip() else []
    line += [*rows.tool_name(call.tool), *said.preview(call)]
    return [*line, elements.words(f"  {words.IN_TENANT.format(tenant=call.tenant)}", italic=True)]


def who_answer(tool: str, views: Sequence[WhoView]) -> Rendered:
    """Who may decide a tool, by which rule, in each tenant of the workspace."""
    blocks: list[Json] = [
        elements.rich([elements.lines([elements.words(f"{words.WHO_DECIDES}  ", bold=True), *rows.tool_name(tool)])])
    ]
    for view in views:
        head = [words.WHO_IN.format(tenant=words.named(view.tenant))]
        if view.approvals > 1:
            head.append(words.WHO_QUORUM.format(number=view.approvals))
        blocks += [elements.section(" ".join(head)), *_rules(view.rules)]
    return Rendered(blocks[: 1 + 2 * LISTED], words.WHO_DECIDES)


def _rules(rules: tuple[RuleLine, ...]) -> list[Json]:
    if not rules:
        return elements.context([words.WHO_NOBODY])
    items = [elements.lines(_rule(rule)) for rule in rules[:LISTED]]
    return [elements.rich([{"type": "rich_text_list", "style": "bullet", "indent": 0, "elements": items}])]


def _rule(rule: RuleLine) -> list[Json]:
    if rule.user is not None and ids.is_user(rule.user):
        who = [elements.person(rule.user)]
    else:
        who = [elements.code(rule.user or rule.group or "?")]
    return [*who, elements.words("  "), elements.code(cut_by_weight(name_text(rule.says), limits.NOTICE))]


def help_answer(note: str = "") -> Rendered:
    """What the command can do; ``note`` says what was not understood."""
    return Rendered([elements.section(f"{note}\n{words.HELP}".strip())], words.HELP)


def ask_whom(operators: Sequence[str]) -> str:
    """Why somebody has no queue, and whom to ask."""
    people = [words.mention(user) for user in operators[: limits.PEOPLE] if ids.is_user(user)]
    ask = words.ASK_OPERATOR.format(people=", ".join(people)) if people else words.ASK_SOMEBODY
    return words.NO_RIGHTS.format(ask=ask)


def group_line(group: str, added: Sequence[str], removed: Sequence[str]) -> str:
    """What a change in a reviewers' group says in the channel."""
    changes = [
        template.format(people=", ".join(words.mention(user) for user in users[: limits.PEOPLE]) + _more(users))
        for template, users in ((words.GROUP_ADDED, added), (words.GROUP_REMOVED, removed))
        if users
    ]
    # By its id: a mention would ring every member's telephone.
    return words.GROUP_CHANGED.format(group=f"`{group}`", changes="; ".join(changes))


def _more(users: Sequence[str]) -> str:
    more = len(users) - limits.PEOPLE
    return f" {words.AND_MORE.format(count=more)}" if more > 0 else ""


CALLS: Final = 6
MOST_BLOCKS: Final = 96


@dataclass(frozen=True, slots=True)
class HomeView:
    """One person's tab: this page's calls and how many there are, what they decided lately, why there may be nothing.

    A call of ``lately`` without a decision is one that they approved and that waits for others.
    """

    calls: tuple[CallView, ...]
    total: int
    page: int = 0
    lately: tuple[CallView, ...] = ()
    ask: str | None = None
    looked_through: int | None = None  # there may be more: only so many were looked through


@dataclass(frozen=True, slots=True)
class RenderedHome:
    """The view, and what each of its cards offers, in the order of the calls."""

    view: Json
    offers: tuple[OfferView, ...]


def home_view(home: HomeView) -> RenderedHome:
    """The whole tab."""
    awaits = words.AWAITS.format(calls=words.several(home.total, "call", "calls"))
    blocks = [elements.header(awaits if home.total else words.NOTHING_AWAITS)]
    if home.ask is not None:
        blocks.append(elements.section(home.ask))
    elif not home.total:
        blocks.append(elements.section(words.NOTHING_MORE))
    blocks += more(home.looked_through)
    offers: list[OfferView] = []
    for number, call in enumerate(home.calls):
        rendered = call_card(call)
        blocks += [elements.divider(), *_apart(rendered.blocks, number)]
        offers.append(OfferView(call.position, rendered.offered, rendered.complete))
    blocks += _pages(home) + _lately(home.lately)
    return RenderedHome({"type": "home", "blocks": blocks[:MOST_BLOCKS]}, tuple(offers))


def pages(total: int) -> int:
    """How many pages so many calls take."""
    return max(1, -(-total // CALLS))


def _apart(blocks: Sequence[Json], number: int) -> list[Json]:
    """Block ids are unique in a view, and every card has the same."""
    return [
        {**block, "block_id": f"{block['block_id']}.{number}"} if "block_id" in block else block for block in blocks
    ]


def _pages(home: HomeView) -> list[Json]:
    last = pages(home.total) - 1
    if not last:
        return []
    buttons = []
    if home.page > 0:
        buttons.append(elements.button(words.LAST_PAGE, f"{ids.HOME_PAGE}.back", str(home.page - 1)))
    if home.page < last:
        buttons.append(elements.button(words.NEXT_PAGE, f"{ids.HOME_PAGE}.next", str(home.page + 1)))
    line = words.PAGE_OF.format(page=home.page + 1, pages=last + 1)
    return [elements.divider(), *elements.context([line]), *elements.actions(buttons, "home.pages")]


def _lately(calls: Sequence[CallView]) -> list[Json]:
    if not calls:
        return []
    items = [elements.lines(_done(call)) for call in calls]
    listed = elements.rich([{"type": "rich_text_list", "style": "bullet", "indent": 0, "elements": items}])
    return [elements.divider(), elements.header(words.LATELY), listed]


def _done(call: CallView) -> list[Json]:
    waits = words.APPROVED_OF.format(has=len(call.approvals), needed=call.approvals_needed)
    done = words.DONE.get(call.decided.decision, "") if call.decided else waits
    return [
        elements.words(f"{words.STATE_WORDS[call.state]}  ", italic=True),
        elements.words(f"{done}  "),
        elements.words(f"{said.heading(call)}  "),
        *rows.tool_name(call.tool),
        *said.preview(call),
    ]
