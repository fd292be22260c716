"""From a person and the policy in force to the core's question "may this person?"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.core.decide import Authority, Permission, Refusal
from bot.core.edit_schema import argument_fault
from bot.core.lossless import parse_kept
from bot.core.model import Action, DecisionType, Review, Who
from bot.core.policy import Call, Person, Requester, TenantPolicy, judge, person_key, tool_settings


class Same:
    """The requester as the thread named them when it was last read: it was not read again for this."""


SAME = Same()


@dataclass(frozen=True, slots=True)
class Standing:
    """What a question of authority rests on: a tenant's policy in one version, and a person."""

    tenant: TenantPolicy
    policy_version: int
    person: Person

    @property
    def who(self) -> Who:
        """The person's one key in this tenant."""
        return person_key(self.tenant, self.person)


def call_of(review: Review, action: Action, final_args: str | None, requester_now: str | None) -> Call:
    """The policy's view of one action and what would run."""
    proposed: Any = parse_kept(action.args) if action.args is not None else None
    return Call(
        tool=action.tool,
        allowed=tuple(kind.value for kind in action.allowed),
        proposed_args=proposed,
        final_args=proposed if final_args is None else parse_kept(final_args),
        requester=Requester(review.requester, requester_now),
        opened_at=review.opened_at,
    )


def authority_for(review: Review, standing: Standing, requester_now: str | Same | None = SAME) -> Authority:
    """The core's question, closed over what is known; `requester_now` is what the thread names now, if it was read."""
    now = review.requester_now if isinstance(requester_now, Same) else requester_now

    def ask(action: Action, decision: DecisionType, final_args: str | None) -> Permission:
        call = call_of(review, action, final_args, now)
        verdict = judge(standing.tenant, call, person=standing.person, decision=decision.value)
        settings = tool_settings(standing.tenant, action.tool)
        rest = (verdict.rule or "", standing.policy_version, settings.approvals)
        if not verdict.allowed:
            return Permission(False, Refusal(verdict.why.value), *rest)
        fault = argument_fault(final_args, settings.schema) if final_args is not None and settings.schema else None
        if fault is not None:
            return Permission(False, Refusal.INVALID_EDIT, *rest, problem=fault.sentence)
        return Permission(True, None, *rest)

    return ask
