"""Private views: what one person sees of one review, and the showing that records exactly that.

Everything here reads by primary key and draws; `DrawnView.showing` must be stored before the view reaches Slack, because a
submission names it. This module must not decide anything, and calls nobody.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from blocks import ids
from blocks.modals import Final, confirm_modal, edit_modal, notice_modal, reject_modal, respond_modal
from blocks.models import RenderedView, ReviewView
from blocks.models import TypedDraft as Typed
from blocks.notices import refusal_plain
from blocks.windows import batch_modal, page_contents, page_of, review_modal
from bot.access.context import ClickContext, load_context
from bot.access.deciding import facts_of
from bot.access.person import Actor, authority_for
from bot.core.decide import Refusal, Refused, review_digest
from bot.core.digest import call_digest, shown
from bot.core.model import Action, DecisionType, Offer, Review, ReviewState, Showing, ShowingKind
from bot.core.take_back import authors, is_stoppable
from bot.policy.matching import tool_settings
from bot.slack.outbound.masks import kept_hidden
from bot.slack.outbound.projection import DrawingContext, batch_view, call_view, offered
from bot.slack.windows.edit_form import as_fields, as_json, fields_for, views_of
from bot.store import showings, tenants
from bot.store.engine import Tx
from bot.store.policies import Policies
from bot.store.showings import Draft, load_drafts

TITLE = "Not decided"
REVEALED = "secret.revealed"


@dataclass(frozen=True, slots=True)
class ViewContext:
    """All that a private view is drawn from, for one person."""

    review: Review
    showing: Showing
    drawing: DrawingContext
    actor: Actor
    drafts: Mapping[int, Draft]
    kept: Mapping[str, Showing] = field(default_factory=dict)  # of the edits that these drafts keep

    def draft(self, action: Action) -> Draft:
        """This person's draft of a call, as long as it was about the same content, under the revision of that content."""
        held = self.drafts.get(action.position)
        same = held is not None and held.digest == action.standing_digest
        draft = held if held is not None and same else Draft(action.standing_digest)
        return replace(draft, revision=_revision(action))

    @property
    def is_stale(self) -> bool:
        """Whether what was shown is not what stands there now: somebody has edited it meanwhile."""
        position = self.showing.position
        tenant_person = (
            review_digest(self.review) if position is None else self.review.actions[position].standing_digest
        )
        return self.showing.digest != tenant_person


def _revision(action: Action) -> int:
    """Of a call's content: 0 as it was proposed. Slack keeps what was typed under an id, so other content has other ids."""
    return 0 if action.proposal is None else int(action.standing_digest[:8], 16) % 999_999 + 1


@dataclass(frozen=True, slots=True)
class DrawnView:
    """A view, and the showing of it; None for a plain notice."""

    view: dict[str, object]
    showing: Showing | None = None
    seen: Mapping[int, Draft] | None = None  # drafts to keep: with this page seen, or in another form
    tenant: str = ""
    event: str = ""  # what the record says of opening it


async def scene_of(tx: Tx, policies: Policies, actor: Actor, showing_id: str) -> ViewContext | Refused:
    """Read what a private view needs, or say why there is none."""
    context = await load_context(tx, policies, actor, showing_id)
    if not isinstance(context, ClickContext):
        return context.refused
    review, who = context.review, context.tenant_person.who
    paused = await tenants.is_paused(tx, review.tenant)
    drawing = DrawingContext(context.tenant_person.tenant, tx.now, context.tenant_person, paused)
    drafts = await load_drafts(tx, review.id, who)
    kept = await showings.load_showings(tx, [one.kept_in for one in drafts.values() if one.kept_in])
    return ViewContext(review, context.showing, drawing, context.actor, drafts, kept)


def new_showing_id() -> str:
    """128 random bits: the only thing that a button or a modal carries."""
    return ids.encode_showing(os.urandom(16))


def typed(draft: Draft) -> Typed:
    """A stored draft as the builders take it."""
    fields = tuple(sorted(draft.fields.items()))
    return Typed(draft.decision, draft.message, draft.edited, draft.revision, fields, draft.kept)


def draw_small(
    context: ViewContext, action: Action, kind: DecisionType, *, banner: str | None = None, in_batch: bool = False
) -> DrawnView:
    """The modal for a reason, an answer or an edit; `in_batch`: the edit is kept until all calls are sent."""
    showing_id = new_showing_id()
    view = call_view(context.review, action, context.drawing, showing=showing_id)
    if kind is DecisionType.EDIT:
        fields = views_of(fields_for(context.review, action, context.drawing.tenant))
        rendered = edit_modal(view, typed(context.draft(action)), fields=fields, banner=banner, in_batch=in_batch)
    else:
        build = reject_modal if kind is DecisionType.REJECT else respond_modal
        draft = context.draft(action)
        other = draft.decision is not None and (draft.decision == DecisionType.RESPOND) is not (build is respond_modal)
        rendered = build(view, typed(replace(draft, message=None) if other else draft), banner=banner)
    return drawn_of(context, rendered, showing_id, action=action)


def draw_other_form(context: ViewContext, action: Action, *, json: bool, in_batch: bool = False) -> DrawnView:
    """The edit in its other form; the draft that it shows is to be kept."""
    draft = context.draft(action)
    fields = fields_for(context.review, action, context.drawing.tenant)
    draft = as_json(action, fields, draft) if json else as_fields(draft)
    changed = {action.position: draft}
    context = replace(context, drafts={**context.drafts, **changed})
    drawn = draw_small(context, action, DecisionType.EDIT, in_batch=in_batch)
    return replace(drawn, seen=changed)


def draw_review(
    context: ViewContext, action: Action, *, page: int = 0, reveal: bool = False, banner: str | None = None
) -> DrawnView:
    """One call in full, at one page; the page counts as seen once its showing is stored.

    A page is known by what stands on it, since the same number may hold other lines once the policy hides others.
    `reveal`: with what the policy hides, which goes into the record.
    """
    showing_id = new_showing_id()
    draft = context.draft(action)
    view = call_view(context.review, action, context.drawing, showing=showing_id)
    reveal = reveal and view.revealable
    pages = [_page_key(context.review, content) for content in page_contents(view, reveal=reveal)]
    seen = frozenset(number for number, key in enumerate(pages) if key in draft.seen)
    rendered = review_modal(ReviewView(view, page, seen, typed(draft), banner, reveal=reveal))
    kept = replace(draft, seen=draft.seen | {pages[rendered.page]})
    drawn = drawn_of(context, rendered, showing_id, action=action)
    return replace(drawn, seen={action.position: kept}, event=REVEALED if reveal else "")


def _page_key(review: Review, content: str) -> str:
    """Of one page's content, keyed by the review's salt: the content may hold a secret."""
    return hmac.new(review.salt, content.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:24]


def draw_batch(context: ViewContext, *, page: int = 0, banner: str | None = None) -> DrawnView:
    """All calls of the interrupt, at one page."""
    showing_id = new_showing_id()
    drafts = {action.position: _typed_in_batch(context, action) for action in context.review.actions}
    view = batch_view(context.review, context.drawing, showing=showing_id, drafts=drafts)
    approved = tuple(one.position for one in context.review.undecided if context.actor.who in authors(one))
    drawn = drawn_of(context, batch_modal(replace(view, page=page, banner=banner, approved=approved)), showing_id)
    return replace(drawn, showing=_with_earlier_pages(context, drawn.showing))


def _typed_in_batch(context: ViewContext, action: Action) -> Typed:
    """With what of a kept edit stays hidden: its author has typed the rest, and sees it."""
    draft = context.draft(action)
    if draft.kept is None:
        return typed(draft)
    redact = tool_settings(context.drawing.tenant, action.tool).redact
    return replace(typed(draft), kept_masks=kept_hidden(action, draft.kept, redact))


def _with_earlier_pages(context: ViewContext, showing: Showing | None) -> Showing | None:
    """A batch is sent from its last page: what this person was shown on the pages before counts, content unchanged."""
    before = context.showing
    ours = before.kind is ShowingKind.MODAL and before.position is None and before.to == context.actor.who
    if showing is None or not ours or before.digest != showing.digest:
        return showing
    carried = tuple(offer for offer in before.offers if page_of(offer.position) != showing.page)
    offers = tuple(sorted((*carried, *showing.offers), key=lambda offer: offer.position))
    return replace(showing, offers=offers, final_args=before.final_args)


def draw_confirm(
    context: ViewContext, action: Action, final_args: str, *, banner: str | None = None, in_batch: bool = False
) -> DrawnView:
    """An edit's difference and its final arguments, under their own digest; `in_batch`: to be kept until all are sent."""
    showing_id = new_showing_id()
    review = context.review
    digest = call_digest(review.place, action.position, action.tool, final_args, action.allowed)
    view = call_view(review, action, context.drawing, showing=showing_id)
    masks = kept_hidden(action, final_args, tool_settings(context.drawing.tenant, action.tool).redact)
    final = Final(final_args, shown(digest), masks)
    rendered = confirm_modal(view, final, banner=banner, in_batch=in_batch)
    return drawn_of(context, rendered, showing_id, action=action, final_args=final_args)


def draw_notice(refused: Refused) -> DrawnView:
    """A refusal as a modal of its own."""
    return DrawnView(notice_modal(TITLE, refusal_plain(refused.reason.value, **facts_of(refused))).view)


def drawn_of(
    context: ViewContext,
    rendered: RenderedView,
    showing_id: str,
    *,
    action: Action | None = None,
    final_args: str | None = None,
) -> DrawnView:
    """A rendered view with the showing that records it: of one call, or without `action` of all."""
    review = context.review
    showing = Showing(
        id=showing_id,
        review_id=review.id,
        position=action.position if action else None,
        kind=ShowingKind.MODAL,
        digest=action.standing_digest if action else review_digest(review),
        offers=tuple(_offer(offer.position, offer.offered, complete=offer.complete) for offer in rendered.offers),
        to=context.actor.who,
        final_args=final_args,
        page=rendered.page,
        at=context.drawing.now,
    )
    return DrawnView(rendered.view, showing, tenant=review.tenant)


def _offer(position: int, kinds: tuple[str, ...], *, complete: bool) -> Offer:
    return Offer(position, tuple(DecisionType(kind) for kind in kinds), complete)


def may_open(context: ViewContext, action: Action | None, kind: DecisionType | None) -> Refused | None:
    """Why this person gets no view for this, or None. The same rules judge again when it is submitted."""
    stop = action is not None and kind is DecisionType.REJECT and is_stoppable(context.review, action)
    if context.review.state is not ReviewState.OPEN and not stop:
        gone = context.review.state in (ReviewState.SUPERSEDED, ReviewState.BROKEN)
        return Refused(Refusal.GONE if gone else Refusal.ALREADY_DECIDED)
    if action is None or kind is None:
        return None
    if action.decision is not None and not stop:
        return Refused(Refusal.ALREADY_DECIDED, action.position, {"by": action.decision.by.user})
    if kind in offered(context.review, action, context.drawing):
        return None
    return _why_not(context, action, kind)


def _why_not(context: ViewContext, action: Action, kind: DecisionType) -> Refused:
    if kind not in action.allowed:
        return Refused(Refusal.DECISION_NOT_ALLOWED, action.position, {"type": kind.value})
    if context.drawing.viewer is None:
        return Refused(Refusal.NOT_A_REVIEWER, action.position)
    permission = authority_for(context.review, context.drawing.viewer)(action, kind, None)
    return Refused(permission.refusal or Refusal.LAST_MINUTE, action.position, {"type": kind.value})
