"""Who somebody is inside a tenant, however Slack calls them.

One human reaches us under several names: as an account of a workspace or of its organisation, by an id of the workspace or by
the organisation's own. For people of the tenant's workspace or organisation the key is the organisation's id, else the
account's. Somebody from outside keeps their own workspace and id: they never equal a member, whatever their id is.
"""

from __future__ import annotations

from bot.core.model import Who
from bot.core.policy_model import Person, TenantPolicy

NOWHERE = "elsewhere"  # the workspace of an outsider whose own is not told


def touches(tenant: TenantPolicy, place: str | None) -> bool:
    """Whether a workspace or an organisation is the tenant's."""
    return bool(place) and place in (tenant.slack_team, tenant.slack_enterprise)


def person_key(tenant: TenantPolicy, person: Person) -> Who:
    """The one key of a person inside a tenant: quorums, authors, drafts and private views go by it."""
    if person.outsider is not True:
        return Who(tenant.slack_team, person.user)
    home = person.home_team
    return Who(NOWHERE if home is None or touches(tenant, home) else home, person.user)
