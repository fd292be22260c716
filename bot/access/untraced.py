"""Buttons and windows that this database never drew: another deployment on the same Slack app has, or a lost database.

Slack gives each press to one of the connections that an app has. Where two deployments share an app, half of the presses
come to the one that knows nothing of them, which nobody would guess from "too old".
"""

from __future__ import annotations

import structlog

from blocks import ids
from bot.core.decide import Refusal, Refused
from bot.store import messages, showings
from bot.store.engine import Tx

log = structlog.get_logger("placet")
ELSEWHERE = "elsewhere"  # the fact that the refusal carries, into the sentence and the record


async def untraced(tx: Tx, showing_id: str, *, channel: str | None = None, ts: str | None = None) -> Refused:
    """Why a showing leads to nothing: of our form and unknown, on no message of ours, it is another deployment's."""
    drawn = ids.decode_showing(showing_id) is not None and await showings.load_showing(tx, showing_id) is None
    if not drawn or (channel and ts and await messages.is_ours(tx, channel, ts)):
        return Refused(Refusal.UNKNOWN_SHOWING)
    log.warning(
        "A press came for a card or window that this database never drew. If another deployment of Placet uses this "
        "Slack app, each takes the other's presses: give each deployment an app of its own.",
        action="not_ours",
        channel=channel,
        ts=ts,
    )
    return Refused(Refusal.UNKNOWN_SHOWING, facts={ELSEWHERE: "yes"})
