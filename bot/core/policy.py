"""Who may decide what: the one name under which the rest of the program asks the policy.

The parts lie in modules of their own (records, rules, settings, offers, checks, plans); reading the file is
`bot.core.policyfile`. All of it is pure, and this module must not hold any logic.
"""

from __future__ import annotations

from bot.core.person import person_key, touches
from bot.core.policy_check import check, mentioned_ids
from bot.core.policy_explain import PolicyLine, decisions_line, explain, who_decides
from bot.core.policy_finding import Finding
from bot.core.policy_model import (
    DECISIONS,
    POWERS,
    REVEAL,
    AgentTarget,
    Call,
    EffectiveSettings,
    FrozenMap,
    Person,
    Policy,
    Requester,
    ReviewerRule,
    TenantPolicy,
    ToolSettings,
    Verdict,
    Why,
)
from bot.core.policy_offer import offered_on_call, offered_to_channel, who_could
from bot.core.policy_plan import Change, Kind, plan
from bot.core.policy_rules import judge, may, may_operate
from bot.core.policy_settings import card_channel, channels_of, tool_settings

__all__ = [
    "DECISIONS",
    "POWERS",
    "REVEAL",
    "AgentTarget",
    "Call",
    "Change",
    "EffectiveSettings",
    "Finding",
    "FrozenMap",
    "Kind",
    "Person",
    "Policy",
    "PolicyLine",
    "Requester",
    "ReviewerRule",
    "TenantPolicy",
    "ToolSettings",
    "Verdict",
    "Why",
    "card_channel",
    "channels_of",
    "check",
    "decisions_line",
    "explain",
    "judge",
    "may",
    "may_operate",
    "mentioned_ids",
    "offered_on_call",
    "offered_to_channel",
    "person_key",
    "plan",
    "tool_settings",
    "touches",
    "who_could",
    "who_decides",
]
