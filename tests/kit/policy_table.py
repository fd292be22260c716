"""Who may decide what: expectations written from the design alone, before the code that must meet them.

Each row gives a policy (a piece of one tenant's YAML), a tool, the proposed and final arguments, a person, the
requester and a decision, and says whether it is allowed, by which reason code, and which rule is the evidence.
This file imports nothing of the program, so no mistake of the code can reach the expectations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

FOUR = ("approve", "edit", "reject", "respond")
OPENED = 1_000_000
SAME = object()  # the final arguments are the proposed ones


@dataclass(frozen=True)
class Who:
    user: str = "U0BEN"
    team: str | None = "T0ACME"
    home_team: str | None = "T0ACME"
    groups: Mapping[str, int] = field(default_factory=dict)
    deactivated: bool = False
    bot: bool = False
    guest: bool = False
    outsider: bool | None = False
    known_as_of: int | None = OPENED
    unreadable: bool = False


@dataclass(frozen=True)
class Num:
    """A number as its source text, as lossless JSON keeps it."""

    text: str


@dataclass(frozen=True)
class Moved:
    """The thread named one requester when the review opened, and another one now."""

    before: str | None
    now: str | None


@dataclass(frozen=True)
class Row:
    says: str
    policy: str
    tool: str
    decision: str
    granted: bool
    why: str
    rule: str | None = None
    who: Who = field(default_factory=Who)
    args: Any = field(default_factory=dict)
    final: Any = SAME
    requester: str | Moved | None = "U0CLEO"
    allowed: tuple[str, ...] = FOUR


HEAD = """\
version: 1
operators: [U0OPS]
tenants:
  acme:
    slack: {team: T0ACME, channel: C0APPROVALS}
    agent: {url: "http://127.0.0.1:2026", kind: aegra, api_key_env: PLACET_AGENT_KEY_ACME,
            users: [approvals], assistant: agent_platform}
    intake_token_env: PLACET_INTAKE_ACME
"""

PIECES = {
    "design": """\
    reviewers:
      - {group: S0SUPPORT, tools: [disable_user, "send_*"], may: [approve, edit, reject]}
      - {user: U0LEAD, tools: ["*"], may: [approve, edit, reject, respond, reveal]}
      - {user: U0TEMP, tools: ["*"], deny: [approve, edit]}
    tools:
      execute_sql: {title: Run SQL, risk: high, approvals: 2, requester_may: [], redact: [password], resend: never}
      restart_host: {decisions: [approve, reject]}
""",
    "nobody": """\
    reviewers: []
""",
    "silent": "",
    "patterns": """\
    reviewers:
      - {user: U0BEN, tools: ["*_user"], may: [approve]}
      - {user: U0BEN, tools: ["db.*.read"], may: [approve]}
      - {user: U0BEN, tools: [exact, "a[bc]d", "what?"], may: [approve]}
""",
    "deny-group": """\
    reviewers:
      - {user: U0BEN, tools: ["*"], may: [approve, reject]}
      - {group: S0TRAINEES, tools: ["*"], deny: [approve]}
      - {user: U0BEN, tools: [drop_db], deny: [reject]}
""",
    "refunds": """\
    reviewers:
      - {group: S0SUPPORT, tools: [refund], may: [approve, edit, reject], when: {amount: {lt: 500}}}
      - {user: U0LEAD, tools: [refund], may: [approve, reject]}
      - {user: U0NEW, tools: [refund], may: [approve, edit, reject]}
      - {user: U0NEW, tools: [refund], deny: [approve, edit], when: {amount: {ge: 100}}}
""",
    "paths": """\
    reviewers:
      - {user: U0BEN, tools: [order], may: [approve, edit], when: {order.total: {gt: 0, le: 99.90}, order.currency: EUR}}
      - {user: U0EVA, tools: [order], may: [approve], when: {express: false}}
      - {user: U0IDA, tools: [order], may: [approve], when: {count: 5}}
      - {user: U0IDA, tools: [order], deny: [approve], when: {mode: dangerous}}
""",
    "union": """\
    reviewers:
      - {group: S0SMALL, tools: [pay], may: [approve], when: {amount: {lt: 10}}}
      - {group: S0LARGE, tools: ["p*"], may: [approve], when: {amount: {lt: 1000}}}
      - {group: S0SMALL, tools: [pay], may: [reject]}
""",
    "requester": """\
    reviewers:
      - {user: U0BEN, tools: ["*"], may: [approve, edit, reject, respond]}
    tools:
      strict: {requester_may: []}
      open: {requester_may: [approve, reject]}
      "ask_*": {requester_may: [respond]}
""",
    "risk": """\
    reviewers:
      - {group: S0SUPPORT, tools: ["*"], may: [approve, reject]}
      - {group: S0TRAINEES, tools: ["*"], deny: [approve]}
    tools:
      "*": {risk: high}
      read_only: {risk: normal}
""",
    "visitors": """\
    guests: [U0GUS]
    outsiders: [{team: T0PARTNER, user: U0EXT}]
    reviewers:
      - {user: U0GUS, tools: ["*"], may: [approve]}
      - {user: U0EXT, tools: ["*"], may: [approve]}
      - {user: U0FAR, tools: ["*"], may: [approve]}
      - {group: S0SUPPORT, tools: ["*"], may: [approve]}
""",
    "enterprise": """\
    slack: {team: T0ACME, channel: C0APPROVALS, enterprise: E0ACME}
    reviewers:
      - {user: U0BEN, tools: ["*"], may: [approve]}
""",
}


def policy_text(piece: str) -> str:
    """The whole policy file around one tenant's piece."""
    lines = PIECES[piece]
    if "    slack:" in lines:
        head = HEAD.replace("    slack: {team: T0ACME, channel: C0APPROVALS}\n", "")
        return head + lines
    return HEAD + lines


def member(*groups: str, user: str = "U0BEN", since: int = 0) -> Who:
    return Who(user=user, groups=dict.fromkeys(groups, since))


SUPPORT = member("S0SUPPORT")
LEAD = Who(user="U0LEAD")
TEMP = Who(user="U0TEMP", groups={"S0SUPPORT": 0})
GUS = Who(user="U0GUS", guest=True)
EXT = Who(user="U0EXT", home_team="T0PARTNER", outsider=True)

DESIGN_GROUP = "reviewers[0] group S0SUPPORT allows {} on {}"
DESIGN_LEAD = "reviewers[1] user U0LEAD allows {} on *"
DESIGN_TEMP = "reviewers[2] user U0TEMP denies {} on *"
SMALL_REFUND = "reviewers[0] group S0SUPPORT allows {} on refund when amount < 500"
NEW_DENIED = "reviewers[3] user U0NEW denies {} on refund when amount >= 100"

# One row a rule: the formatter would spread each over a dozen lines.
# fmt: off
ROWS = (
    # Groups, users, tools.
    Row("a member of the group approves a tool by its exact name", "design", "disable_user", "approve", True, "allowed",
        DESIGN_GROUP.format("approve", "disable_user"), SUPPORT),
    Row("a member of the group edits a tool that a pattern matches", "design", "send_mail", "edit", True, "allowed",
        DESIGN_GROUP.format("edit", "send_*"), SUPPORT),
    Row("a pattern's star also stands for nothing", "design", "send_", "reject", True, "allowed",
        DESIGN_GROUP.format("reject", "send_*"), SUPPORT),
    Row("a decision that the rule leaves out is refused", "design", "send_mail", "respond", False,
        "decision_not_permitted", None, SUPPORT),
    Row("a reviewer of another tool is no reviewer of this one", "design", "execute_sql", "approve", False,
        "not_a_reviewer", None, SUPPORT),
    Row("a person outside the group is no reviewer", "design", "disable_user", "approve", False, "not_a_reviewer"),
    Row("membership of another group does not help", "design", "disable_user", "approve", False, "not_a_reviewer",
        None, member("S0SALES")),
    Row("a user rule with a star covers every tool", "design", "no_such_tool", "respond", True, "allowed",
        DESIGN_LEAD.format("respond"), LEAD),
    Row("reveal is granted only where it is named", "design", "execute_sql", "reveal", True, "allowed",
        DESIGN_LEAD.format("reveal"), LEAD),
    Row("reveal is not part of approve", "design", "disable_user", "reveal", False, "decision_not_permitted", None,
        SUPPORT),
    Row("reveal does not ask whether the call allows it", "design", "execute_sql", "reveal", True, "allowed",
        DESIGN_LEAD.format("reveal"), LEAD, allowed=("reject",)),
    Row("a decision that this call does not allow is refused to a reviewer too", "design", "disable_user", "edit",
        False, "decision_not_allowed", None, LEAD, allowed=("approve", "reject")),
    Row("a call that allows nothing lets nobody decide", "design", "disable_user", "approve", False,
        "decision_not_allowed", None, LEAD, allowed=()),
    Row("a word that is no decision is refused", "design", "disable_user", "escalate", False, "decision_not_allowed",
        None, LEAD, allowed=("escalate", "approve")),
    Row("tools.decisions does not narrow what the interrupt itself allows", "design", "restart_host", "edit", True,
        "allowed", DESIGN_LEAD.format("edit"), LEAD),
    # Denials.
    Row("a denial beats the group's allowance", "design", "send_mail", "approve", False, "denied",
        DESIGN_TEMP.format("approve"), TEMP),
    Row("a denial names its decisions and leaves others alone", "design", "send_mail", "reject", True, "allowed",
        DESIGN_GROUP.format("reject", "send_*"), TEMP),
    Row("a denial alone grants nothing", "design", "execute_sql", "reject", False, "not_a_reviewer", None, TEMP),
    Row("a group's denial beats the person's own allowance", "deny-group", "drop_db", "approve", False, "denied",
        "reviewers[1] group S0TRAINEES denies approve on *", member("S0TRAINEES")),
    Row("a denial on a group touches only its members", "deny-group", "drop_db", "approve", True, "allowed",
        "reviewers[0] user U0BEN allows approve on *"),
    Row("a narrow denial beats a broad allowance", "deny-group", "drop_db", "reject", False, "denied",
        "reviewers[2] user U0BEN denies reject on drop_db"),
    Row("a narrow denial stays narrow", "deny-group", "drop_dbs", "reject", True, "allowed",
        "reviewers[0] user U0BEN allows reject on *"),
    # Nobody.
    Row("an empty list of reviewers lets nobody decide", "nobody", "delete_file", "approve", False, "not_a_reviewer",
        None, LEAD),
    Row("a missing list of reviewers lets nobody decide", "silent", "delete_file", "reject", False, "not_a_reviewer",
        None, SUPPORT),
    Row("an operator is not thereby a reviewer", "nobody", "delete_file", "approve", False, "not_a_reviewer", None,
        Who(user="U0OPS")),
    Row("the requester is not thereby a reviewer", "nobody", "delete_file", "reject", False, "not_a_reviewer", None,
        Who(user="U0CLEO")),
    # Patterns.
    Row("a star in front matches the ending", "patterns", "disable_user", "approve", True, "allowed",
        "reviewers[0] user U0BEN allows approve on *_user"),
    Row("a pattern ends where the name ends", "patterns", "disable_users", "approve", False, "not_a_reviewer"),
    Row("a star in the middle matches", "patterns", "db.main.read", "approve", True, "allowed",
        "reviewers[1] user U0BEN allows approve on db.*.read"),
    Row("a dot is a dot", "patterns", "dbxmain.read", "approve", False, "not_a_reviewer"),
    Row("beginning and ending may not share characters", "patterns", "db.read", "approve", False, "not_a_reviewer"),
    Row("names are compared by case", "patterns", "Exact", "approve", False, "not_a_reviewer"),
    Row("a blank behind the name is another tool", "patterns", "exact ", "approve", False, "not_a_reviewer"),
    Row("brackets are no wildcard", "patterns", "abd", "approve", False, "not_a_reviewer"),
    Row("brackets are themselves", "patterns", "a[bc]d", "approve", True, "allowed",
        "reviewers[2] user U0BEN allows approve on a[bc]d"),
    Row("a question mark is no wildcard", "patterns", "whatx", "approve", False, "not_a_reviewer"),
    Row("a star crosses line breaks", "patterns", "x\n_user", "approve", True, "allowed",
        "reviewers[0] user U0BEN allows approve on *_user"),
    # Conditions.
    Row("a small amount may be approved", "refunds", "refund", "approve", True, "allowed",
        SMALL_REFUND.format("approve"), SUPPORT, {"amount": Num("499.99")}),
    Row("the bound itself is not below the bound", "refunds", "refund", "approve", False, "condition_not_met", None,
        SUPPORT, {"amount": Num("500")}),
    Row("the bound is met by value and not by spelling", "refunds", "refund", "approve", False, "condition_not_met",
        None, SUPPORT, {"amount": Num("5.0e2")}),
    Row("a digit far behind the point counts", "refunds", "refund", "approve", True, "allowed",
        SMALL_REFUND.format("approve"), SUPPORT, {"amount": Num("499.9999999999999999999999")}),
    Row("a plain Python number counts", "refunds", "refund", "approve", True, "allowed",
        SMALL_REFUND.format("approve"), SUPPORT, {"amount": 12}),
    Row("a missing amount is not small", "refunds", "refund", "approve", False, "condition_not_met", None, SUPPORT, {}),
    Row("no arguments at all are not small", "refunds", "refund", "approve", False, "condition_not_met", None, SUPPORT,
        None),
    Row("an amount in quotes is not small", "refunds", "refund", "approve", False, "condition_not_met", None, SUPPORT,
        {"amount": "12"}),
    Row("true is not the number one", "refunds", "refund", "approve", False, "condition_not_met", None, SUPPORT,
        {"amount": True}),
    Row("null is not small", "refunds", "refund", "approve", False, "condition_not_met", None, SUPPORT,
        {"amount": None}),
    Row("a number that is not finite is not small", "refunds", "refund", "approve", False, "condition_not_met", None,
        SUPPORT, {"amount": Num("-Infinity")}),
    Row("a list of arguments has no amount", "refunds", "refund", "approve", False, "condition_not_met", None, SUPPORT,
        [{"amount": 1}]),
    Row("a conditional allowance withholds reject too", "refunds", "refund", "reject", False, "condition_not_met", None,
        SUPPORT, {"amount": Num("900")}),
    Row("a person without conditions approves any amount", "refunds", "refund", "approve", True, "allowed",
        "reviewers[1] user U0LEAD allows approve on refund", LEAD, {"amount": "a lot"}),
    Row("an edit within the bound is granted", "refunds", "refund", "edit", True, "allowed",
        SMALL_REFUND.format("edit"), SUPPORT, {"amount": Num("100")}, {"amount": Num("200")}),
    Row("an edit beyond the bound is refused by its final value", "refunds", "refund", "edit", False,
        "condition_not_met", None, SUPPORT, {"amount": Num("100")}, {"amount": Num("5000")}),
    Row("an edit down from beyond the bound is refused by its proposed value", "refunds", "refund", "edit", False,
        "condition_not_met", None, SUPPORT, {"amount": Num("5000")}, {"amount": Num("100")}),
    Row("an edit that removes the argument is refused", "refunds", "refund", "edit", False, "condition_not_met", None,
        SUPPORT, {"amount": Num("100")}, {}),
    Row("an edit that changes the type is refused", "refunds", "refund", "edit", False, "condition_not_met", None,
        SUPPORT, {"amount": Num("100")}, {"amount": "100"}),
    Row("approving an edited call judges the edited value", "refunds", "refund", "approve", False, "condition_not_met",
        None, SUPPORT, {"amount": Num("100")}, {"amount": Num("501")}),
    Row("a conditional denial below its bound is silent", "refunds", "refund", "approve", True, "allowed",
        "reviewers[2] user U0NEW allows approve on refund", Who(user="U0NEW"), {"amount": Num("99")}),
    Row("a conditional denial at its bound refuses", "refunds", "refund", "approve", False, "denied",
        NEW_DENIED.format("approve"), Who(user="U0NEW"), {"amount": Num("100")}),
    Row("a conditional denial refuses by the final value", "refunds", "refund", "edit", False, "denied",
        NEW_DENIED.format("edit"), Who(user="U0NEW"), {"amount": Num("1")}, {"amount": Num("100")}),
    Row("a conditional denial refuses by the proposed value", "refunds", "refund", "edit", False, "denied",
        NEW_DENIED.format("edit"), Who(user="U0NEW"), {"amount": Num("100")}, {"amount": Num("1")}),
    Row("a conditional denial that cannot be judged refuses", "refunds", "refund", "approve", False, "denied",
        NEW_DENIED.format("approve"), Who(user="U0NEW"), {}),
    Row("a conditional denial refuses another type", "refunds", "refund", "approve", False, "denied",
        NEW_DENIED.format("approve"), Who(user="U0NEW"), {"amount": "1"}),
    Row("a conditional denial leaves decisions that it does not name", "refunds", "refund", "reject", True, "allowed",
        "reviewers[2] user U0NEW allows reject on refund", Who(user="U0NEW"), {"amount": Num("900")}),
    Row("all of several conditions hold", "paths", "order", "approve", True, "allowed",
        "reviewers[0] user U0BEN allows approve on order when order.total > 0 and order.total <= 99.90"
        ' and order.currency = "EUR"',
        Who(), {"order": {"total": Num("99.9"), "currency": "EUR"}}),
    Row("one of several conditions fails", "paths", "order", "approve", False, "condition_not_met", None, Who(),
        {"order": {"total": Num("99.9"), "currency": "USD"}}),
    Row("a lower bound that is not met refuses", "paths", "order", "approve", False, "condition_not_met", None, Who(),
        {"order": {"total": Num("0"), "currency": "EUR"}}),
    Row("a dotted path does not read a key that holds the dot", "paths", "order", "approve", False,
        "condition_not_met", None, Who(), {"order.total": Num("5"), "order.currency": "EUR"}),
    Row("false is met by false", "paths", "order", "approve", True, "allowed",
        "reviewers[1] user U0EVA allows approve on order when express = false", Who(user="U0EVA"), {"express": False}),
    Row("false is not met by zero", "paths", "order", "approve", False, "condition_not_met", None, Who(user="U0EVA"),
        {"express": Num("0")}),
    Row("equal numbers may be spelt differently", "paths", "order", "approve", True, "allowed",
        "reviewers[2] user U0IDA allows approve on order when count = 5", Who(user="U0IDA"),
        {"count": Num("5.0"), "mode": "safe"}),
    Row("a denial by text equality refuses", "paths", "order", "approve", False, "denied",
        'reviewers[3] user U0IDA denies approve on order when mode = "dangerous"', Who(user="U0IDA"),
        {"count": Num("5"), "mode": "dangerous"}),
    Row("a denial by text equality refuses another type", "paths", "order", "approve", False, "denied",
        'reviewers[3] user U0IDA denies approve on order when mode = "dangerous"', Who(user="U0IDA"),
        {"count": Num("5"), "mode": None}),
    # The union.
    Row("the second of two groups grants what the first cannot", "union", "pay", "approve", True, "allowed",
        "reviewers[1] group S0LARGE allows approve on p* when amount < 1000", member("S0SMALL", "S0LARGE"),
        {"amount": Num("50")}),
    Row("the first rule in the file that grants is the evidence", "union", "pay", "approve", True, "allowed",
        "reviewers[0] group S0SMALL allows approve on pay when amount < 10", member("S0LARGE", "S0SMALL"),
        {"amount": Num("5")}),
    Row("rules of one group add up", "union", "pay", "reject", True, "allowed",
        "reviewers[2] group S0SMALL allows reject on pay", member("S0SMALL"), {"amount": Num("50")}),
    # The requester.
    Row("a requester who reviews may not approve by default", "requester", "any", "approve", False, "own_request",
        "requester_may: [reject]", requester="U0BEN"),
    Row("a requester who reviews may not edit by default", "requester", "any", "edit", False, "own_request",
        "requester_may: [reject]", requester="U0BEN"),
    Row("a requester who reviews may not respond by default", "requester", "any", "respond", False, "own_request",
        "requester_may: [reject]", requester="U0BEN"),
    Row("a requester who reviews may reject by default", "requester", "any", "reject", True, "allowed",
        "reviewers[0] user U0BEN allows reject on *", requester="U0BEN"),
    Row("a question is answered by its own requester", "requester", "any", "respond", True, "allowed",
        "reviewers[0] user U0BEN allows respond on *", requester="U0BEN", allowed=("respond", "reject")),
    Row("a question without reject is answered by its own requester", "requester", "any", "respond", True, "allowed",
        "reviewers[0] user U0BEN allows respond on *", requester="U0BEN", allowed=("respond",)),
    Row("requester_may empty refuses reject as well", "requester", "strict", "reject", False, "own_request",
        "requester_may: []", requester="U0BEN"),
    Row("requester_may empty leaves other people free", "requester", "strict", "approve", True, "allowed",
        "reviewers[0] user U0BEN allows approve on *"),
    Row("requester_may with approve lets the requester approve", "requester", "open", "approve", True, "allowed",
        "reviewers[0] user U0BEN allows approve on *", requester="U0BEN"),
    Row("requester_may lists all that it lets through", "requester", "open", "edit", False, "own_request",
        "requester_may: [approve, reject]", requester="U0BEN"),
    Row("requester_may that is set replaces the default for questions", "requester", "ask_user", "reject", False,
        "own_request", "requester_may: [respond]", requester="U0BEN", allowed=("respond", "reject")),
    Row("requester_may never makes a reviewer", "refunds", "refund", "reject", False, "not_a_reviewer", None,
        Who(user="U0CLEO"), {"amount": Num("1")}),
    Row("an unknown requester leaves the default rule out", "requester", "any", "approve", True, "allowed",
        "reviewers[0] user U0BEN allows approve on *", requester=None),
    Row("an unknown requester closes approve where the tool sets the rule", "requester", "strict", "approve", False,
        "requester_unknown", "requester_may: []", requester=None),
    Row("an unknown requester leaves reject open where the tool sets the rule", "requester", "strict", "reject", True,
        "allowed", "reviewers[0] user U0BEN allows reject on *", requester=None),
    Row("an unknown requester closes approve even where requesters may approve", "requester", "open", "approve", False,
        "requester_unknown", "requester_may: [approve, reject]", requester=None),
    Row("an unknown requester closes respond where the tool sets the rule", "requester", "ask_user", "respond", False,
        "requester_unknown", "requester_may: [respond]", requester=None, allowed=("respond", "reject")),
    Row("a changed requester closes approve where the tool sets the rule", "requester", "strict", "approve", False,
        "requester_unknown", "requester_may: []", requester=Moved("U0CLEO", "U0DAN")),
    Row("a changed requester leaves reject open where the tool sets the rule", "requester", "strict", "reject", True,
        "allowed", "reviewers[0] user U0BEN allows reject on *", requester=Moved("U0CLEO", None)),
    Row("the former requester stays bound by the default rule", "requester", "any", "approve", False, "own_request",
        "requester_may: [reject]", requester=Moved("U0BEN", "U0DAN")),
    Row("the new requester is bound by the default rule", "requester", "any", "approve", False, "own_request",
        "requester_may: [reject]", requester=Moved("U0DAN", "U0BEN")),
    # High risk.
    Row("a member from before the review opened decides a risky call", "risk", "wipe", "approve", True, "allowed",
        "reviewers[0] group S0SUPPORT allows approve on *", member("S0SUPPORT", since=OPENED)),
    Row("a member since after the review opened does not decide a risky call", "risk", "wipe", "approve", False,
        "joined_too_late", None, member("S0SUPPORT", since=OPENED + 1)),
    Row("a late member does not reject a risky call either", "risk", "wipe", "reject", False, "joined_too_late", None,
        member("S0SUPPORT", since=OPENED + 1)),
    Row("a late member decides a call of normal risk", "risk", "read_only", "approve", True, "allowed",
        "reviewers[0] group S0SUPPORT allows approve on *", member("S0SUPPORT", since=OPENED + 1)),
    Row("a late membership denies at once", "risk", "wipe", "approve", False, "denied",
        "reviewers[1] group S0TRAINEES denies approve on *",
        Who(groups={"S0SUPPORT": 0, "S0TRAINEES": OPENED + 1})),
    # People.
    Row("the same id in another workspace is another person", "design", "disable_user", "approve", False,
        "other_workspace", None, Who(user="U0LEAD", team="T0OTHER", home_team="T0OTHER")),
    Row("a person without a workspace is refused", "design", "disable_user", "approve", False, "other_workspace", None,
        Who(user="U0LEAD", team=None)),
    Row("an enterprise id stands for the workspace where the policy names it", "enterprise", "any", "approve", True,
        "allowed", "reviewers[0] user U0BEN allows approve on *", Who(team="E0ACME")),
    Row("an enterprise id that the policy does not name is refused", "design", "disable_user", "approve", False,
        "other_workspace", None, Who(user="U0LEAD", team="E0ACME")),
    Row("a deactivated reviewer is refused", "design", "disable_user", "approve", False, "deactivated", None,
        Who(user="U0LEAD", deactivated=True)),
    Row("a bot is refused", "design", "disable_user", "approve", False, "bot_user", None,
        Who(user="U0LEAD", bot=True)),
    Row("a guest is refused though a rule names them", "design", "disable_user", "approve", False, "guest", None,
        Who(user="U0LEAD", guest=True)),
    Row("an admitted guest decides", "visitors", "any", "approve", True, "allowed",
        "reviewers[0] user U0GUS allows approve on *", GUS),
    Row("an admitted guest who is deactivated is refused", "visitors", "any", "approve", False, "deactivated", None,
        Who(user="U0GUS", guest=True, deactivated=True)),
    Row("an outsider is refused though a rule names them", "visitors", "any", "approve", False, "outsider", None,
        Who(user="U0FAR", home_team="T0PARTNER", outsider=True)),
    Row("a listed outsider decides", "visitors", "any", "approve", True, "allowed",
        "reviewers[1] user U0EXT allows approve on *", EXT),
    Row("an outsider is listed with their own team", "visitors", "any", "approve", False, "outsider", None,
        Who(user="U0EXT", home_team="T0OTHER", outsider=True)),
    Row("a local person with a listed outsider's id is not that outsider", "visitors", "any", "approve", False,
        "not_a_reviewer", None, Who(user="U0EXT")),
    Row("an outsider in a reviewers' group is still an outsider", "visitors", "any", "approve", False, "outsider",
        None, Who(user="U0SUE", home_team="T0PARTNER", outsider=True, groups={"S0SUPPORT": 0})),
    Row("a person of whom nothing is known cannot be confirmed", "design", "disable_user", "approve", False,
        "cannot_confirm", None, Who(user="U0LEAD", known_as_of=None)),
    Row("a person whose home is not known cannot be confirmed", "design", "disable_user", "approve", False,
        "cannot_confirm", None, Who(user="U0LEAD", outsider=None)),
    Row("an unknown person may be in the group", "design", "disable_user", "approve", False, "cannot_confirm", None,
        Who(known_as_of=None)),
    Row("an unknown person may be in a group that Slack does not tell", "design", "disable_user", "approve", False,
        "group_unreadable", None, Who(known_as_of=None, unreadable=True)),
    Row("an unknown person whom no rule could help is refused for good", "design", "execute_sql", "approve", False,
        "not_a_reviewer", None, Who(known_as_of=None)),
    Row("an unknown person's own denial refuses for good", "design", "send_mail", "approve", False, "denied",
        DESIGN_TEMP.format("approve"), Who(user="U0TEMP", known_as_of=None)),
    Row("known bad news outweighs what is not known", "design", "disable_user", "approve", False, "deactivated", None,
        Who(user="U0LEAD", deactivated=True, outsider=None)),
)
# fmt: on
