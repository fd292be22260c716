"""What of one call stays hidden wherever it is shown: its masks, and the same values in every text about it.

It exists so that no card, modal, text or notice decides for itself what is secret. It must not draw anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from blocks.models import Mask
from bot.core.json import JsonProblem, parse_kept
from bot.core.model import Action
from bot.core.redaction import Masked, at_path, masks_of, redact_text, secrets_in


@dataclass(frozen=True, slots=True)
class CallMasks:
    """What is hidden of one call, in its proposed and in its final arguments."""

    declared: tuple[str, ...]
    proposed: tuple[Masked, ...]
    final: tuple[Masked, ...]
    secrets: tuple[str, ...]

    @property
    def masks(self) -> tuple[Mask, ...]:
        """For the builders; what the policy declares first, since a path counts once."""
        found = sorted({*self.proposed, *self.final}, key=lambda mask: (not mask.declared, _key(mask)))
        once = {mask.path: mask for mask in reversed(found)}
        return tuple(Mask(mask.path, mask.declared) for mask in found if once[mask.path] is mask)

    def text(self, text: str | None) -> str | None:
        """A text about the call without what is hidden in it."""
        return redact_text(text, self.secrets, self.declared)


def hiding_of(action: Action, declared: tuple[str, ...]) -> CallMasks:
    """What is hidden of a call under the policy's `redact`."""
    final_args = _final(action)
    proposed = masks_of(action.args, declared)
    final = masks_of(final_args, declared) if final_args is not None else ()
    if action.decision is None and final_args is not None:
        # Nobody approves a value that they were not shown: what an edit put there is theirs to open in private.
        kept = {mask.path for mask in kept_hidden(action, final_args, declared)}
        final = tuple(replace(mask, declared=mask.declared and mask.path in kept) for mask in final)
        changed = {mask.path for mask in final if not mask.declared}
        proposed = tuple(mask for mask in proposed if mask.path not in changed)
    secrets = {*secrets_in(action.args, proposed), *secrets_in(final_args, final)}
    ordered = tuple(sorted(secrets, key=lambda text: (-len(text), text)))
    return CallMasks(declared, proposed, final, ordered)


def kept_hidden(action: Action, final_args: str, declared: tuple[str, ...]) -> tuple[Mask, ...]:
    """What stays hidden in the view of an edit: declared values that it leaves as they were. What was typed is shown."""
    before, after = _tree(action.args), _tree(final_args)
    return tuple(
        Mask(mask.path, declared=True)
        for mask in masks_of(final_args, declared)
        if mask.declared and at_path(before, mask.path) == at_path(after, mask.path)
    )


def hidden_changes(action: Action, masks: CallMasks) -> int:
    """How many hidden values an edit changed: the difference is not shown to others, that there is one is."""
    final_args = _final(action)
    if final_args is None:
        return 0
    before, after = _tree(action.args), _tree(final_args)
    paths = {mask.path for mask in (*masks.proposed, *masks.final)}
    return sum(at_path(before, path) != at_path(after, path) for path in paths)


def _final(action: Action) -> str | None:
    """The arguments of an edit that was decided, or that awaits more approvals."""
    return action.decision.final_args if action.decision else action.standing_args if action.proposal else None


def _tree(source: str | None) -> object:
    try:
        return parse_kept(source) if source is not None else None
    except JsonProblem:
        return None


def _key(mask: Masked) -> str:
    return "/".join(map(str, mask.path))
