"""What a slash command answers: one person's queue, who may decide a tool, and help.

It exists for people who would rather type than search a channel. It offers no decision: that is for cards, modals and
the Home tab. What the agent or the asker wrote stands in code style only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from blocks import call as said
from blocks import ids, kit, limits, rows, words
from blocks.args import name_text
from blocks.kit import Json
from blocks.models import CallView, Rendered
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
        return Rendered([kit.section(ask)], ask)
    if not calls:
        return Rendered([kit.section(f"*{words.NOTHING_AWAITS}.* {words.NOTHING_MORE}")], f"{words.NOTHING_AWAITS}.")
    title = words.AWAITS.format(calls=words.several(len(calls), "call", "calls"))
    items = [kit.lines(item(call)) for call in calls[:LISTED]]
    left = len(calls) - LISTED
    notes = [words.QUEUE_MORE.format(count=left)] if left > 0 else []
    listed = kit.rich([{"type": "rich_text_list", "style": "ordered", "indent": 0, "elements": items}])
    context = kit.context([*notes, words.QUEUE_WHERE])
    return Rendered([kit.header(title), *more(looked_through), listed, *context], title)


def more(looked_through: int | None) -> list[Json]:
    """That a list may be cut, if it may be."""
    return [] if looked_through is None else kit.context([words.AWAITS_MORE.format(count=words.count(looked_through))])


def item(call: CallView) -> list[Json]:
    """One call on one line: its title, its tool, the values that would run, its tenant."""
    title = "" if said.is_question(call) else cut_plain(on_one_line(call.title or ""), limits.ROOT_PREVIEW)
    title = words.HIGH_RISK.format(title=title) if call.risk == "high" else title
    line = [kit.words(f"{title}  ", bold=call.risk == "high")] if title.strip() else []
    line += [*rows.tool_name(call.tool), *said.preview(call)]
    return [*line, kit.words(f"  {words.IN_TENANT.format(tenant=call.tenant)}", italic=True)]


def who_answer(tool: str, views: Sequence[WhoView]) -> Rendered:
    """Who may decide a tool, by which rule, in each tenant of the workspace."""
    blocks: list[Json] = [
        kit.rich([kit.lines([kit.words(f"{words.WHO_DECIDES}  ", bold=True), *rows.tool_name(tool)])])
    ]
    for view in views:
        head = [words.WHO_IN.format(tenant=words.named(view.tenant))]
        if view.approvals > 1:
            head.append(words.WHO_QUORUM.format(number=view.approvals))
        blocks += [kit.section(" ".join(head)), *_rules(view.rules)]
    return Rendered(blocks[: 1 + 2 * LISTED], words.WHO_DECIDES)


def _rules(rules: tuple[RuleLine, ...]) -> list[Json]:
    if not rules:
        return kit.context([words.WHO_NOBODY])
    items = [kit.lines(_rule(rule)) for rule in rules[:LISTED]]
    return [kit.rich([{"type": "rich_text_list", "style": "bullet", "indent": 0, "elements": items}])]


def _rule(rule: RuleLine) -> list[Json]:
    if rule.user is not None and ids.is_user(rule.user):
        who = [kit.person(rule.user)]
    else:
        who = [kit.code(rule.user or rule.group or "?")]
    return [*who, kit.words("  "), kit.code(cut_by_weight(name_text(rule.says), limits.NOTICE))]


def help_answer(note: str = "") -> Rendered:
    """What the command can do; ``note`` says what was not understood."""
    return Rendered([kit.section(f"{note}\n{words.HELP}".strip())], words.HELP)


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
