import json
import random

import pytest

from blocks import ids, limits, words
from blocks.cards import call_card
from blocks.models import CallState, Mask, RootView
from blocks.roots import root_card
from tests.kit.block_calls import (
    ALL,
    SHOWING,
    action_ids,
    all_texts,
    dicts,
    make_call,
    make_root,
    make_settled,
    renumbered,
    shown_text,
)


def context_lines(message):
    return [element["text"] for block in message.blocks if block["type"] == "context" for element in block["elements"]]


def buttons(message):
    return {each["action_id"]: each for each in dicts(message.blocks) if each.get("type") == "button"}


def header(message):
    return message.blocks[0]["text"]["text"]


def test_a_short_call_is_shown_whole_with_all_that_is_offered():
    card = call_card(make_call())
    assert card.complete
    assert card.offered == ALL
    assert action_ids(card.blocks) == [ids.APPROVE, ids.EDIT, ids.REJECT, ids.RESPOND]


@pytest.mark.parametrize("offered", [("approve", "reject"), ("respond", "reject"), ("reject",), ()])
def test_only_what_is_offered_has_a_button(offered):
    card = call_card(make_call(offered=offered))
    assert set(card.offered) == set(offered)
    assert {ids.decode_decision(each) for each in action_ids(card.blocks)} == set(offered)


def test_a_decision_that_is_not_known_gets_no_button():
    assert call_card(make_call(offered=("respond", "escalate"))).offered == ("respond",)


def test_every_button_carries_the_showing_and_nothing_else():
    card = call_card(make_call(arguments=json.dumps({"b64": "QUJD" * 900})))
    assert {each["value"] for each in buttons(card).values()} == {SHOWING}


def test_approve_is_the_only_primary_button_and_reject_the_only_dangerous_one():
    styles = {action: each.get("style") for action, each in buttons(call_card(make_call())).items()}
    assert styles == {ids.APPROVE: "primary", ids.EDIT: None, ids.REJECT: "danger", ids.RESPOND: None}


def test_a_call_that_does_not_fit_says_how_much_is_shown_and_offers_review_instead_of_approve():
    card = call_card(make_call(arguments=json.dumps({"query": "x" * 9_807})))
    assert not card.complete
    assert "approve" not in card.offered
    assert action_ids(card.blocks)[0] == ids.REVIEW
    assert any("of 9,812 characters shown" in line for line in context_lines(card))


def test_what_cannot_be_shown_whole_is_kept_to_a_few_lines_above_the_buttons():
    card = call_card(make_call(arguments=json.dumps({"query": "SELECT 1;\n" * 400, "to": "billing"})))
    (box,) = [each for each in dicts(card.blocks) if each.get("type") == "rich_text_preformatted"]
    assert box["elements"][0]["text"].count("\n") < limits.CARD_LINES
    assert "billing" in shown_text(card.blocks)


def test_a_destructive_tail_behind_the_cut_cannot_be_approved():
    command = "systemctl status app; " + "echo ok; " * 400 + "rm -rf /srv/prod"
    card = call_card(make_call(arguments=json.dumps({"cmd": command})))
    assert "approve" not in card.offered
    assert "rm -rf" not in shown_text(card.blocks)


def test_a_call_that_cannot_be_read_out_whole_has_no_approve_though_the_card_shows_it():
    card = call_card(make_call(arguments=json.dumps({"note": "word " * 150 + "end"})))
    assert "word end" in shown_text(card.blocks)
    assert "approve" not in card.offered
    assert words.TEXT_CUT in context_lines(card)


def test_a_tool_name_that_does_not_fit_takes_approve_away():
    card = call_card(make_call(tool="t" * 500))
    assert "approve" not in card.offered
    assert words.TOOL_CUT in context_lines(card)


def test_a_long_description_is_cut_and_leaves_the_arguments_their_room():
    card = call_card(make_call(description="D" * 9_000))
    assert card.complete
    assert "300 of 9,000 characters shown" in shown_text(card.blocks)


@pytest.mark.parametrize(
    "description",
    [
        None,
        "",
        "  ",
        "Tool execution requires approval",
        "Tool execution requires approval\n\nTool: disable_user\nArgs: {'user_id': 'u'}",
    ],
)
def test_a_description_that_says_nothing_new_is_left_out(description):
    assert words.SAID not in all_texts(call_card(make_call(description=description)).blocks)


def test_a_description_keeps_what_stands_before_the_repeated_arguments():
    card = call_card(make_call(description="Chargeback 88\n\nTool: disable_user\nArgs: {}"))
    assert "Chargeback 88" in all_texts(card.blocks)


@pytest.mark.parametrize("arguments", ["null", None, '""', '"{\\"a\\":1}"', "[1]", '{"a":'])
def test_arguments_that_are_no_object_can_be_neither_approved_nor_edited(arguments):
    card = call_card(make_call(arguments=arguments))
    assert card.offered == ("reject", "respond")
    assert words.NOT_AN_OBJECT in context_lines(card)


def test_a_call_without_arguments_says_so_and_can_be_approved():
    card = call_card(make_call(arguments="{}"))
    assert words.NO_ARGUMENTS in all_texts(card.blocks)
    assert card.offered == ALL


def test_arguments_too_long_for_a_form_have_no_edit_and_the_card_says_why():
    card = call_card(make_call(arguments=json.dumps({"content": "L" * 4_000})))
    assert card.offered == ("reject", "respond")
    assert words.NOT_EDITABLE in context_lines(card)


def test_a_declared_secret_is_hidden_and_counted_and_the_call_stays_approvable():
    card = call_card(
        make_call(arguments='{"user": "ann", "password": "hunter2"}', masks=(Mask(("password",), declared=True),))
    )
    assert "hunter2" not in json.dumps([card.blocks, card.text])
    assert "approve" in card.offered
    assert "edit" not in card.offered
    assert any("1 value hidden" in line for line in context_lines(card))


def test_a_suspected_secret_is_hidden_and_sends_people_to_review():
    card = call_card(
        make_call(arguments='{"url": "https://x.example/?token=abc"}', masks=(Mask(("url",), declared=False),))
    )
    assert "token=abc" not in json.dumps([card.blocks, card.text])
    assert not card.complete
    assert action_ids(card.blocks)[0] == ids.REVIEW


def test_hidden_values_of_text_that_is_no_json_hide_all_of_it():
    card = call_card(make_call(arguments="token=FAKE-1", masks=(Mask(("url",), declared=True),)))
    assert "FAKE-1" not in json.dumps([card.blocks, card.text])
    assert not card.complete


def test_invisible_characters_are_written_out_with_a_warning():
    card = call_card(make_call(arguments=json.dumps({"to": "a\u202eb\u200b"})))
    assert r"a\u202eb\u200b" in all_texts(card.blocks)
    assert any("2 characters written out" in line for line in context_lines(card))


def test_right_to_left_letters_bring_a_warning():
    assert words.RIGHT_TO_LEFT in context_lines(call_card(make_call(arguments=json.dumps({"to": "\u05d0\u05d1"}))))


@pytest.mark.parametrize(
    "changes", [{"tool": "\u05d0"}, {"arguments": json.dumps({"\u05d0": 1})}, {"description": "\u05d0"}]
)
def test_warnings_cover_the_tool_names_and_the_description(changes):
    assert words.RIGHT_TO_LEFT in context_lines(call_card(make_call(**changes)))


@pytest.mark.parametrize(
    "changes",
    [
        {"arguments": json.dumps({"to": "billing@p\u0430ypal.com"})},
        {"arguments": json.dumps({"url": "https://\u0430pple.example/login"})},
        {"arguments": json.dumps({"user_id": "u_\u0410\u0412"})},
        {"arguments": json.dumps({"deep": [{"hosts": ["db1", "d\u04bb1.example"]}]})},
        {"arguments": json.dumps({"us\u0435r_id": "u_1"})},
        {"tool": "dis\u0430ble_user"},
        {"description": "Please see p\u0430ypal.com."},
    ],
    ids=["e-mail", "domain", "id", "nested", "name", "tool", "description"],
)
def test_an_identifier_with_letters_that_look_like_others_brings_a_warning_wherever_it_stands(changes):
    assert words.LOOKALIKE in context_lines(call_card(make_call(**changes)))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e999"])
@pytest.mark.parametrize("source", ['{"amount": %s}', '{"to": [{"limit": {"max": %s}}]}'])
def test_a_number_that_is_not_finite_brings_a_warning(source, number):
    assert any("no finite number" in line for line in context_lines(call_card(make_call(arguments=source % number))))


@pytest.mark.parametrize("number", ["1e300", "12345678901234567890123", "-0.5", '"NaN"', '"1e400"'])
def test_a_number_that_is_finite_brings_no_warning(number):
    card = call_card(make_call(arguments=f'{{"amount": {number}}}'))
    assert not any("finite" in line for line in context_lines(card))


@pytest.mark.parametrize(
    "changes",
    [
        {"arguments": json.dumps({"cmd": "ls" + " " * 90 + "; rm -rf /"})},
        {"arguments": json.dumps({"cmds": ["ls" + " " * 30 + "; rm -rf /"]})},
        {"arguments": json.dumps({"deep": {"a": {"ls" + " " * 30 + "x": 1}}})},
        {"arguments": json.dumps({"text": "ok" + "\n" * 12 + "rm -rf /"})},
        {"tool": "ls" + " " * 40 + "rm"},
    ],
)
def test_a_long_run_of_blanks_brings_a_warning_and_is_counted_in_the_text(changes):
    card = call_card(make_call(**changes))
    assert any("long runs of blanks" in line for line in context_lines(card))
    assert " " * 4 not in card.text


def test_the_header_is_the_policys_title_or_ours_and_never_the_tools_name():
    assert header(call_card(make_call(title=None, tool="evil"))) == words.UNTITLED
    assert header(call_card(make_call(position=1, total=3))) == "Disable user (2 of 3)"
    assert header(call_card(make_call(risk="high", title="Run SQL"))) == "High risk: Run SQL"


def test_a_call_without_a_tenant_or_deadline_leaves_them_out():
    lines = context_lines(call_card(make_call(tenant="", decide_by=None, digest="")))
    assert lines == ["Asked by <@U02DANA>"]


def test_a_value_written_on_lines_that_could_be_json_is_called_text():
    card = call_card(make_call(arguments=json.dumps({"content": '{\n "a": 1\n}'})))
    assert f" {words.AS_TEXT}" in all_texts(card.blocks)


def test_a_call_that_waits_shows_its_own_arguments_whatever_was_decided_before():
    decided = make_settled("decided", "edit", final='{"reason": "other"}').decided
    card = call_card(make_call(decided=decided))
    assert "chargeback dispute" in shown_text(card.blocks)
    assert "other" not in card.text


def test_a_high_risk_approval_asks_once_more_and_names_plain_tool_and_target():
    approve = buttons(call_card(make_call(risk="high")))[ids.APPROVE]
    assert approve["confirm"]["text"]["text"].startswith("Tool: disable_user. user_id: u_4821.")
    assert approve["confirm"]["text"]["type"] == "plain_text"


def test_a_confirm_dialog_names_nothing_that_could_be_a_sentence():
    approve = buttons(call_card(make_call(risk="high", tool="safe, go on", arguments='{"why": "it is approved"}')))[
        ids.APPROVE
    ]
    assert approve["confirm"]["text"]["text"] == f"why: see the card. {words.CONFIRM}"
    assert approve["accessibility_label"] == "Approve this call"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"query": "x" * 200, "database": "billing"}, "query: see the card."),
        ({"the query": "SELECT 1"}, "First argument: see the card."),
        ({"ids": [1, 2, 3]}, "ids: see the card."),
    ],
)
def test_a_confirm_dialog_names_the_target_also_where_it_is_too_long_to_repeat(arguments, named):
    approve = buttons(call_card(make_call(risk="high", arguments=json.dumps(arguments))))[ids.APPROVE]
    assert approve["confirm"]["text"]["text"].startswith(f"Tool: disable_user. {named} ")


def test_a_normal_approval_takes_one_press():
    assert "confirm" not in buttons(call_card(make_call()))[ids.APPROVE]


def test_the_people_line_says_who_asked_where_and_how_many_must_agree():
    lines = context_lines(call_card(make_call(approvals_needed=2, approvals=("U03BEN",))))
    assert lines[0] == "Asked by <@U02DANA> in acme  ·  Needs 2 approvals, has 1 (<@U03BEN>)"
    assert lines[1].startswith("Decide by <!date^1796040000^")
    assert lines[1].endswith("2026-11-30 12:00 UTC>  ·  k3vd 8w2m q7xa")


@pytest.mark.parametrize("requester", [None, "", "<!channel>", "u_4821"])
def test_a_requester_that_is_no_person_is_called_unknown(requester):
    assert context_lines(call_card(make_call(requester=requester)))[0].startswith("Asked by an unknown person")


@pytest.mark.parametrize(
    ("link", "shown"),
    [("https://agents.example/t/1", True), ("javascript:x", False), ("https://a|b>", False), (None, False)],
)
def test_only_a_plain_web_address_becomes_the_link_to_the_thread(link, shown):
    assert ("|Open the thread>" in context_lines(call_card(make_call(thread_link=link)))[0]) is shown


def test_the_text_alone_says_tool_arguments_requester_and_deadline():
    text = call_card(make_call()).text
    for part in ("disable_user", '{"user_id": "u_4821"', "<@U02DANA>", "2026-11-30 12:00 UTC"):
        assert part in text


def test_the_text_says_when_it_leaves_something_out():
    text = call_card(make_call(arguments=json.dumps({"prompt": "p" * 11_800}))).text
    assert "Not all of it is in this text (600 of 11,806 characters)" in text
    assert len(text) < 1_200


def test_the_text_of_an_edited_call_reads_out_what_ran():
    card = call_card(make_settled("executed", "edit", final='{"reason": "fraud"}'))
    assert 'Edited arguments: {"reason": "fraud"}' in card.text
    assert "chargeback" not in card.text


def test_a_settled_card_says_what_who_when_and_how_long_without_buttons():
    card = call_card(make_settled("executed", outcome="disabled u_4821"))
    assert context_lines(card)[0] == "✅ *Ran*"
    assert context_lines(card)[1].startswith("*Approved* by <@U03BEN>  ·  <!date^1796030000^")
    assert context_lines(card)[1].endswith("after 2 min")
    assert "disabled u_4821" in all_texts(card.blocks)
    assert action_ids(card.blocks) == []


@pytest.mark.parametrize("state", [state for state in CallState if state is not CallState.EXECUTED])
def test_the_check_mark_is_kept_for_a_call_that_ran(state):
    card = call_card(make_settled(state))
    assert "✅" not in json.dumps([card.blocks, card.text], ensure_ascii=False)


def test_how_long_it_took_is_left_out_where_the_start_is_not_known():
    assert not any("after" in line for line in context_lines(call_card(make_settled("executed", opened_at=None))))


def test_an_edited_settled_card_shows_old_and_new_and_what_stayed():
    card = call_card(make_settled("executed", "edit", final='{"user_id": "u_4821", "reason": "fraud", "extra": 1}'))
    struck = [each["text"] for each in dicts(card.blocks) if each.get("style", {}).get("strike")]
    assert struck == ["chargeback dispute", "false"]
    assert "Edited: 3 changesreason  chargeback dispute becomes fraud" in shown_text(card.blocks).replace("\n", "")
    assert "u_4821" in all_texts(card.blocks)


def test_an_edit_of_very_many_fields_says_how_many_changed_and_shows_what_ran():
    old, new = ({f"k{at:03}": f"{at}{side}" * 20 for at in range(20)} for side in "ab")
    card = call_card(make_settled("executed", "edit", arguments=json.dumps(old), final=json.dumps(new)))
    assert "Edited: 20 changes" in shown_text(card.blocks)
    assert any("of 20 changes shown in full" in line for line in context_lines(card))
    assert words.RAN_WITH in shown_text(card.blocks)
    assert new["k019"][:10] in shown_text(card.blocks)


def test_the_card_of_an_edit_shows_a_long_final_value_beyond_what_fits_beside_the_old_one():
    final = "fine " * 60 + "end"
    card = call_card(make_settled("executed", "edit", final=json.dumps({"reason": final})))
    assert final in all_texts(card.blocks)


def struck_out(card):
    return [
        each["text"]
        for each in dicts(card.blocks)
        if each.get("type") == "text" and each.get("style", {}).get("strike")
    ]


def second_approval(original, standing, **changes):
    changes = {"approvals_needed": 2, "approvals": ("U03BEN",), "offered": ("approve", "reject")} | changes
    return call_card(make_call(arguments=json.dumps(standing), original=json.dumps(original), **changes))


def test_the_second_approver_sees_every_change_of_an_edit_counted_removals_included():
    card = second_approval({f"k{at}": at for at in range(12)}, {f"k{at}": at + 1 for at in range(10)})
    struck = struck_out(card)
    assert struck == [str(at) for at in range(12)]
    assert "Edited: 12 changes" in shown_text(card.blocks)
    assert card.complete
    assert "Edited arguments: " in card.text


@pytest.mark.parametrize(
    "original",
    [
        {"k": "v", **{f"gone {at}": "x" * 90 for at in range(40)}},
        {"k": "v", "gone": "x" * 900},
        {"k": "v", "n" * 90: 1, "n" * 90 + "m": 2},
    ],
)
def test_an_edit_that_does_not_fit_beside_the_call_says_so_and_has_no_approve(original):
    card = second_approval(original, {"k": "v"})
    assert not card.complete
    assert card.offered == ("reject",)
    assert ids.REVIEW in action_ids(card.blocks)
    total = len(original) - 1
    assert any(f"of {total} changes shown in full.* Press Review" in line for line in context_lines(card))


def test_arguments_with_names_that_begin_alike_are_compared_by_their_full_names():
    one, other = "n" * 85 + "1", "n" * 85 + "2"
    card = second_approval({one: "stays", other: "goes"}, {one: "stays"})
    assert "Edited: 1 change" in shown_text(card.blocks)
    card = second_approval({one: 1, other: 2}, {one: 1, other: 3})
    assert "Edited: 1 change" in shown_text(card.blocks)


def test_names_and_removals_of_any_length_are_all_counted():
    seed = random.randrange(10**9)
    print(f"seed {seed}")
    drawn = random.Random(seed)
    for _ in range(30):
        stem = drawn.choice("näm🙂") * drawn.choice([1, 20, 79, 80, 81, 200])
        names = [f"{stem}{at}" for at in range(drawn.randint(1, 30))]
        original = {name: drawn.choice([1, "1", "x" * drawn.randint(1, 300), [1], {"a": None}]) for name in names}
        gone = set(drawn.sample(names, drawn.randint(0, len(names))))
        changed = set(drawn.sample(names, drawn.randint(0, len(names)))) - gone
        standing = {name: ("new" if name in changed else value) for name, value in original.items() if name not in gone}
        card = second_approval(original, standing | {"added": 1})
        total = len(gone) + len(changed) + 1
        assert f"Edited: {words.several(total, 'change', 'changes')}" in shown_text(card.blocks)
        assert not card.complete or len(struck_out(card)) == total - 1


def test_a_question_of_the_agent_is_no_tool_without_a_name():
    value = '{"question": "Which region?", "options": ["eu", "us"]}'
    card = call_card(make_call(tool="", arguments=value, offered=(), state=CallState.READ_ONLY, title="Any tool"))
    assert header(card) == "A question of the agent"
    assert "Which region?" in all_texts(card.blocks)
    assert '""' not in shown_text(card.blocks) + card.text
    assert "Tool" not in shown_text(card.blocks) + card.text
    assert not any("not an object" in line for line in context_lines(card))
    plain = call_card(make_call(tool="", arguments='"Which region?"', offered=(), state=CallState.READ_ONLY))
    assert not any("not an object" in line for line in context_lines(plain))


def test_a_root_names_a_question_and_the_final_values_of_an_edited_call():
    edited = make_settled("executed", "edit", final='{"user_id": "u_1", "reason": "fraud"}')
    question = make_call(tool="", arguments='"Which region?"', offered=(), state=CallState.READ_ONLY)
    standing = make_call(arguments='{"user_id": "u_2"}', original='{"user_id": "u_4821"}', approvals=("U03BEN",))
    root = root_card(RootView(SHOWING, renumbered((edited, question, standing))))
    shown = shown_text(root.blocks)
    assert "edited:  u_1, fraud" in shown
    assert "edited:  u_2" in shown
    assert "u_4821" not in shown + root.text
    assert "cannot be decided here  A question of the agent  Which region?" in shown
    assert "disable_user, edited: u_1, fraud" in root.text
    assert "A question of the agent, Which region?" in root.text


def test_a_decision_of_placets_own_is_not_laid_at_a_persons_door():
    decided = make_settled("expired", "reject").decided
    card = call_card(make_call(state=CallState.EXPIRED, decided=type(decided)("reject", None, None)))
    assert "*Rejected* by Placet" in context_lines(card)


def test_a_typed_reason_is_echoed_literally_and_mentions_nobody():
    card = call_card(make_settled("rejected", "reject", message="<!channel> *stop*"))
    assert "<!channel> *stop*" in all_texts([block for block in card.blocks if block["type"] == "rich_text"])
    assert not any("channel" in line for line in context_lines(card))


def test_the_author_of_an_unsent_decision_may_take_it_back_and_a_reviewer_may_stop_it():
    card = call_card(make_call(state=CallState.DECIDED, offered=("approve", "reject"), take_back=True))
    assert action_ids(card.blocks) == [ids.TAKE_BACK, ids.REJECT]
    assert card.offered == ("reject",)


def test_a_read_only_call_says_why():
    card = call_card(make_call(state=CallState.READ_ONLY, reason="Nobody may decide this tool.", offered=ALL))
    assert "🔒 *Cannot be decided here*: Nobody may decide this tool." in context_lines(card)
    assert action_ids(card.blocks) == []


def test_the_root_lists_its_calls_in_order_and_counts_them():
    root = root_card(make_root(3))
    assert header(root) == "3 calls wait together"
    assert "0 of 3 decided: the agent goes on when all are" in context_lines(root)
    assert action_ids(root.blocks) == [ids.REVIEW]
    assert root.offered == ()


@pytest.mark.parametrize("count", [25, 100])
def test_a_large_batch_shows_its_first_calls_and_how_many_more_there_are(count):
    root = root_card(make_root(count))
    (listed,) = [each for each in dicts(root.blocks) if each.get("type") == "rich_text_list"]
    assert len(listed["elements"]) == limits.ROOT_CALLS
    assert any(f"And {count - limits.ROOT_CALLS} more" in line for line in context_lines(root))
    assert f"and {count - limits.ROOT_CALLS} more" in root.text


def test_the_same_tool_twice_keeps_two_items_with_their_own_arguments():
    calls = renumbered(
        (
            make_call(tool="transfer", arguments='{"amount": 10}'),
            make_call(tool="transfer", arguments='{"amount": 90000}'),
        )
    )
    shown = shown_text(root_card(RootView(SHOWING, calls)).blocks)
    assert shown.index("10") < shown.index("90000")


def test_a_root_with_nothing_left_to_decide_has_no_button():
    calls = renumbered((make_settled("executed"), make_settled("rejected", "reject")))
    root = root_card(RootView(SHOWING, calls, reviewable=False))
    assert header(root) == "2 calls, all decided"
    assert action_ids(root.blocks) == []


def test_a_root_names_who_decided_and_the_risk():
    shown = shown_text(
        root_card(RootView(SHOWING, renumbered((make_settled("executed", risk="high"), make_call())))).blocks
    )
    assert "✅ ran by   High risk: Disable user" in shown


def test_a_root_marks_a_name_and_values_that_it_cuts():
    long = make_call(tool="t" * 90, arguments=json.dumps({"query": "q" * 90}))
    assert shown_text(root_card(RootView("s", (make_call(),))).blocks).count("…") == 0
    assert shown_text(root_card(RootView("s", (long,))).blocks).count("…") == 2


def test_an_empty_root_is_no_crash():
    assert root_card(RootView(SHOWING, (), notices=("Nothing here.",))).complete


def test_an_edit_that_does_not_fit_keeps_the_buttons_in_sight():
    card = second_approval({"k": 1} | {f"gone {at}": f"value {at} " * 20 for at in range(40)}, {"k": 1})
    assert 0 < len(struck_out(card)) <= 8
    assert sum(map(len, struck_out(card))) <= limits.CHANGES_PREVIEW
