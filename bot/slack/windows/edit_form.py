"""The form of single arguments for one call: from stored rows to its fields, and from what was typed to new arguments.

It exists between the core's fields, which know types, and the builders' view-models, which know none. It must not draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from blocks import ids
from blocks.forms import are_usable, edit_text
from blocks.models import FieldView
from bot.core.argument_schema import edit_schema
from bot.core.editing import ArgumentField, TypedArguments, fields_of, read_fields
from bot.core.model import Action, DecisionType, InterruptShape, Review
from bot.core.redaction import masks_of
from bot.policy.matching import tool_settings
from bot.policy.model import TenantPolicy
from bot.store.showings import Draft

LONGEST = 100_000  # of arguments in one form; Slack takes 250 KB a view


def fields_for(review: Review, action: Action, tenant: TenantPolicy) -> tuple[ArgumentField, ...]:
    """The call's fields; none where JSON text suits better, or nothing could be typed."""
    args = action.standing_args
    if DecisionType.EDIT not in action.allowed or args is None or len(args) > LONGEST:
        return ()
    settings = tool_settings(tenant, action.tool)
    own = review.response_schema if review.shape is InterruptShape.PER_CALL else None
    made = fields_of(args, edit_schema(settings.schema, own), masks_of(args, settings.redact))
    return made if made and are_usable(views_of(made)) else ()


def views_of(fields: tuple[ArgumentField, ...]) -> tuple[FieldView, ...]:
    """The fields as the builders take them."""
    return tuple(
        FieldView(
            one.index,
            one.name,
            one.kind.value,
            one.initial,
            one.choices,
            tuple(state.value for state in one.states),
            one.state.value,
        )
        for one in fields
    )


def read_typed(action: Action, fields: tuple[ArgumentField, ...], draft: Draft) -> TypedArguments:
    """What a draft's fields come to."""
    return read_fields(action.standing_args or "{}", fields, draft.fields)


def as_json(action: Action, fields: tuple[ArgumentField, ...], draft: Draft) -> Draft:
    """The draft in the form of JSON text, with what was typed where it can be read."""
    final = read_typed(action, fields, draft).final or action.standing_args or "{}"
    return replace(draft, edited=edit_text(final) or final, fields={})


def as_fields(draft: Draft) -> Draft:
    """The draft in the form of single fields, as they were proposed."""
    return replace(draft, edited=None, fields={})


def error_blocks(position: int, errors: Mapping[int, str], values: Mapping[str, object]) -> dict[str, str]:
    """Field errors by the block ids that the view really has."""
    found: dict[str, str] = {}
    for block in values:
        place = ids.decode_place(block)
        if place is not None and place.field in errors and (place.kind, place.position) == ("f", position):
            found[block] = errors[place.field or 0]
    return found
