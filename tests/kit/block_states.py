"""One view-model for each state that people can see, by the name of its snapshot."""

import json
from dataclasses import replace

from blocks.cards import call_card
from blocks.modals import (
    Final,
    confirm_modal,
    edit_modal,
    notice_modal,
    operation_modal,
    reading_modal,
    reject_modal,
    respond_modal,
    result_modal,
)
from blocks.models import BatchView, CallState, Decided, FieldView, Mask, RenderedView, RootView, TypedDraft
from blocks.notices import private_notice, refusal_plain, refusal_text
from blocks.reasons import problem_text
from blocks.roots import root_card
from blocks.windows import batch_modal, review_modal
from tests.kit.block_calls import SHOWING, make_batch, make_call, make_review, make_root, make_settled, renumbered

QUERY = "DELETE FROM carts WHERE age > 30\n  AND region IN ('eu-1', 'eu-2')\n" * 60
FIELDS = (
    FieldView(0, "user_id", "text", "u_4821"),
    FieldView(1, "amount", "number", "12.70"),
    FieldView(2, "notify", "yes_no", "false"),
    FieldView(3, "region", "choice", '"eu"', ('"eu"', '"us"'), ("set", "missing")),
    FieldView(4, "labels", "json", '["vip", {"n": 1.50}]'),
    FieldView(5, "note", "text", "", (), ("set", "null", "missing"), "null"),
    FieldView(6, "pin", "hidden"),
    FieldView(7, "login", "fixed"),
    FieldView(8, "body", "text", "x" * 3_001),
)
LONG = json.dumps({"database": "billing", "query": QUERY})
SQL = {"tool": "execute_sql", "title": "Run SQL", "risk": "high"}
HOSTILE = json.dumps(
    {
        "cmd": "x` <https://evil.example/login|Approve via portal> `",
        "text": "<!channel> deploy <@U0VICTIM> &lt;!here&gt; *bold* :skull:",
        "to": "invoice\u202efdp.exe\u200b",
        "code": "```\nend``` and `tick`",
        "Asked by": "the security team",
        "seven": "7",
        "empty": "",
        "none": None,
        "amount": 12.5,
    }
)
MIXED = renumbered(
    (
        make_call(showing="s_" + "a" * 26),
        make_settled(
            "decided", **SQL, arguments='{"query": "DELETE FROM carts WHERE age > 30"}', showing="s_" + "b" * 26
        ),
        make_call(
            showing="s_" + "c" * 26,
            tool="ask_user",
            title=None,
            arguments='{"question": "Which region?"}',
            offered=("respond", "reject"),
        ),
    )
)
DRAFTS = ((0, TypedDraft("reject", "Wrong account: see ticket 88.")), (2, TypedDraft("respond")))

CARDS = {
    "card-waiting": make_call(),
    "card-started-with": make_call(started_with=(("org", "acme` <!channel> \u202e*ok*\nTool  other"), ("region", None))),
    "card-waiting-in-batch": make_call(position=1, total=3),
    "card-high-risk": make_call(**SQL, arguments='{"database": "billing", "query": "VACUUM"}', approvals_needed=2, approvals=("U03BEN",)),
    "card-partly-approved": make_call(**SQL, approvals_needed=2, approvals=("U03BEN",), take_back=True),
    "card-long-high-risk": make_call(**SQL, arguments=LONG, approvals_needed=2, approvals=("U03BEN",)),
    "card-too-long-to-read-out": make_call(arguments=json.dumps({"note": "word " * 180 + "end"})),
    "card-hostile": make_call(tool="run\u202e<!here>", title=None, arguments=HOSTILE, description="see <https://evil.example|runbook>"),
    "card-no-arguments": make_call(arguments="{}"),
    "card-missing-arguments": make_call(arguments=None),
    "card-arguments-a-string": make_call(arguments='"{\\"a\\":1}"'),
    "card-malformed-arguments": make_call(arguments='{"a": '),
    "card-nested": make_call(arguments='{"to": [{"id": 12345678901234567890, "tags": ["vip", "eu"]}], "ratio": 12.70, "deep": {"a": {"b": [1, 2]}}}'),
    "card-declared-secret": make_call(arguments='{"user": "ann", "password": "hunter2"}', masks=(Mask(("password",), declared=True),)),
    "card-suspected-secret": make_call(arguments='{"url": "https://x.example/?token=abc", "n": 1}', masks=(Mask(("url",), declared=False),)),
    "card-revealable": make_call(
        arguments='{"user": "ann", "password": "hunter2"}', masks=(Mask(("password",), declared=True),), revealable=True
    ),
    "card-mentioning": make_call(mention=("U03BEN", "S0SUPPORT", "<!channel>")),
    "card-described": make_call(description="The customer asked twice to be removed."),
    "card-notices": make_call(notices=("Dispatch is paused.", "Waiting: the agent server cannot be reached.")),
    "card-decisions-unknown": make_call(
        state=CallState.READ_ONLY, reason=problem_text("decisions_unknown"), offered=(),
        policy_line="tenants:\n  acme:\n    tools:\n      disable_user: {decisions: [approve, reject]}",
    ),
    "card-nobody-may": make_call(state=CallState.READ_ONLY, reason="Nobody may decide this tool here. Ask an operator.", offered=()),
    "card-decided": make_settled("decided", take_back=True),
    "card-decided-stoppable": replace(make_settled("decided", take_back=True), offered=("reject",)),
    "card-executed-with-result": make_settled("executed", has_result=True),
    "card-sending": make_settled("sending"),
    "card-sent": make_settled("sent"),
    "card-executed": make_settled("executed", outcome="disabled u_4821"),
    "card-executed-edited": make_settled(
        "executed", "edit", final='{"user_id": "u_4821", "reason": "fraud review", "notify": false}', outcome="disabled u_4821"
    ),
    "card-failed": make_settled("failed", outcome="ValueError: no such user <@U0VICTIM>"),
    "card-rejected": make_settled("rejected", "reject", message="<!channel> wrong account\nsee ticket 88"),
    "card-answered": make_settled("answered", "respond", tool="ask_user", arguments='{"question": "Which region?"}', message="eu-1"),
    "card-taken": make_settled("taken"),
    "card-superseded": make_call(state=CallState.SUPERSEDED, reason="The agent moved on.", offered=()),
    "card-expired": make_call(state=CallState.EXPIRED, decided=Decided("reject", None, 1_796_040_001), offered=()),
    "card-broken": make_call(state=CallState.BROKEN, offered=()),
    "card-unknown": make_settled("unknown"),
    "card-held": make_call(state=CallState.HELD, offered=()),
    "card-broken-for-operators": make_call(state=CallState.BROKEN, offered=(), operate=("repair",)),
    "card-stuck-for-operators": replace(make_settled("unknown"), reason="It says that it is busy.", operate=("settle", "cancel")),
}  # fmt: skip
ROOTS = {
    "root-of-3": RootView(SHOWING, MIXED),
    "root-of-30": make_root(30),
    "root-broken-for-operators": RootView(SHOWING, renumbered((make_call(state=CallState.BROKEN, offered=()),) * 2), reviewable=False, operate=("repair",)),
    "root-all-decided": RootView(SHOWING, renumbered((make_settled("executed"), make_settled("rejected", "reject"))), reviewable=False),
}  # fmt: skip
LATE_REFUSAL = refusal_text("already_decided", by="U03BEN", at=1_796_030_000, position=1)

MESSAGES = (
    {name: call_card(call) for name, call in CARDS.items()}
    | {name: root_card(root) for name, root in ROOTS.items()}
    | {"notice-private": private_notice(LATE_REFUSAL)}
)
VIEWS = {
    "modal-reject": reject_modal(make_call()),
    "modal-respond": respond_modal(make_call(tool="ask_user", arguments='{"question": "Which region?"}'), TypedDraft("respond", "eu-1")),
    "modal-respond-again": respond_modal(make_call(), banner=refusal_plain("empty_answer")),
    "modal-edit": edit_modal(make_call(arguments='{"user_id": "u_4821", "amount": 12.70, "labels": ["vip"], "to": "a\u202eb"}')),
    "modal-edit-draft": edit_modal(make_call(), TypedDraft("edit", edited='{"user_id": “u_1”}', revision=2), banner="Use straight quotes."),
    "modal-edit-fields": edit_modal(make_call(typed=True), fields=FIELDS),
    "modal-edit-unchecked": edit_modal(make_call(typed=True, unchecked=True), fields=FIELDS),
    "modal-edit-fields-draft": edit_modal(
        make_call(typed=True), TypedDraft(revision=1, fields=((0, "u_1"), (2, "true"), (3, '"us"'), (5_003, "missing"))), fields=FIELDS
    ),
    "modal-edit-json-instead": edit_modal(make_call(typed=True), TypedDraft(edited='{"a": 1}'), fields=FIELDS),
    "modal-result": result_modal(make_settled("executed"), "disabled u_4821\nby <!channel>"),
    "modal-result-page-2": result_modal(make_settled("failed"), QUERY * 4, page=1),
    "modal-result-reading": reading_modal(),
    "modal-result-too-long": result_modal(make_settled("executed"), QUERY * 40, page=30, banner="Only the beginning was kept."),
    "modal-revealed": review_modal(
        make_review(
            make_call(arguments='{"password": "hunter2"}', masks=(Mask(("password",), declared=True),), revealable=True),
            reveal=True,
        )
    ),
    "modal-review-revealable": review_modal(
        make_review(make_call(arguments='{"password": "hunter2"}', masks=(Mask(("password",), declared=True),), revealable=True))
    ),
    "modal-edit-too-long": edit_modal(make_call(arguments=LONG)),
    "modal-edit-not-an-object": edit_modal(make_call(arguments="[1]")),
    "modal-review": review_modal(make_review(make_call())),
    "modal-review-edit": review_modal(make_review(make_call(typed=True), draft=TypedDraft("edit"))),
    "modal-review-page-1": review_modal(make_review(make_call(arguments=LONG * 1, **SQL), draft=TypedDraft("reject"))),
    "modal-review-last-unseen": review_modal(make_review(make_call(arguments=json.dumps({"q": QUERY * 4})), page=3)),
    "modal-review-last": review_modal(make_review(make_call(arguments=json.dumps({"q": QUERY * 4})), page=3, seen=frozenset({0, 1, 2}))),
    "modal-review-too-long": review_modal(make_review(make_call(arguments=json.dumps({"q": QUERY * 40})), page=19, seen=frozenset(range(19)))),
    "modal-review-settled": review_modal(make_review(make_settled("executed"))),
    "modal-batch": batch_modal(BatchView(SHOWING, MIXED, drafts=DRAFTS)),
    "modal-batch-edit": batch_modal(BatchView(SHOWING, MIXED, drafts=((0, TypedDraft("edit")),), banner="Call 2 was decided by somebody else meanwhile.")),
    "modal-batch-edit-kept": batch_modal(BatchView(SHOWING, MIXED, drafts=((0, TypedDraft("edit", kept='{"user_id": "u_1", "amount": 12.70}')),))),
    "modal-batch-first-of-30": batch_modal(make_batch(30)),
    "modal-batch-last-of-30": batch_modal(make_batch(30, page=5)),
    "modal-batch-approved-before": batch_modal(BatchView(SHOWING, MIXED, drafts=((0, TypedDraft("approve")),), approved=(0,))),
    "modal-batch-long": batch_modal(BatchView(SHOWING, renumbered((make_call(arguments=LONG, **SQL), make_call(offered=()))))),
    "modal-confirm": confirm_modal(
        make_call(arguments='{"user_id": "u_4821", "reason": "chargeback dispute", "amount": 12.7, "old": 1}'),
        Final('{"user_id": "u_4821", "reason": "fraud review", "amount": 12.70, "new": ""}', "c7qf2mzk9r4t")),
    "modal-confirm-unchanged": confirm_modal(make_call(), Final(make_call().arguments, "c7qf2mzk9r4t")),
    "modal-keep": confirm_modal(make_call(), Final('{"user_id": "u_1", "reason": "fraud review"}', "c7qf2mzk9r4t"), in_batch=True),
    **{
        f"modal-operate-{name}": RenderedView(operation_modal(name, showing=SHOWING, tools=["disable_user", "run\u202e<!here>"]))
        for name in ("repair", "settle", "cancel", "reopen")
    },
    "modal-operate-twice": RenderedView(operation_modal("settle", showing=SHOWING, tools=["send_email"] * 7, twice=True)),
    "modal-notice": notice_modal("Too late", refusal_plain("expired", at=1_796_040_000)),
}  # fmt: skip
