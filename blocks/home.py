"""The Home tab of one person: what awaits them, as cards of their own, and what they decided lately.

It exists so that a reviewer need not search channels. Each card is the very card of the channel, drawn for this person,
under a showing of its own. It must not know how the calls were chosen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from blocks import call as said
from blocks import ids, kit, rows, words
from blocks.cards import call_card
from blocks.kit import Json
from blocks.models import CallView, Offer
from blocks.queue import more

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
    offers: tuple[Offer, ...]


def home_view(home: HomeView) -> RenderedHome:
    """The whole tab."""
    awaits = words.AWAITS.format(calls=words.several(home.total, "call", "calls"))
    blocks = [kit.header(awaits if home.total else words.NOTHING_AWAITS)]
    if home.ask is not None:
        blocks.append(kit.section(home.ask))
    elif not home.total:
        blocks.append(kit.section(words.NOTHING_MORE))
    blocks += more(home.looked_through)
    offers: list[Offer] = []
    for number, call in enumerate(home.calls):
        rendered = call_card(call)
        blocks += [kit.divider(), *_apart(rendered.blocks, number)]
        offers.append(Offer(call.position, rendered.offered, rendered.complete))
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
        buttons.append(kit.button(words.LAST_PAGE, f"{ids.HOME_PAGE}.back", str(home.page - 1)))
    if home.page < last:
        buttons.append(kit.button(words.NEXT_PAGE, f"{ids.HOME_PAGE}.next", str(home.page + 1)))
    line = words.PAGE_OF.format(page=home.page + 1, pages=last + 1)
    return [kit.divider(), *kit.context([line]), *kit.actions(buttons, "home.pages")]


def _lately(calls: Sequence[CallView]) -> list[Json]:
    if not calls:
        return []
    items = [kit.lines(_done(call)) for call in calls]
    listed = kit.rich([{"type": "rich_text_list", "style": "bullet", "indent": 0, "elements": items}])
    return [kit.divider(), kit.header(words.LATELY), listed]


def _done(call: CallView) -> list[Json]:
    waits = words.APPROVED_OF.format(has=len(call.approvals), needed=call.approvals_needed)
    done = words.DONE.get(call.decided.decision, "") if call.decided else waits
    return [
        kit.words(f"{words.STATE_WORDS[call.state]}  ", italic=True),
        kit.words(f"{done}  "),
        kit.words(f"{said.heading(call)}  "),
        *rows.tool_name(call.tool),
        *said.preview(call),
    ]
