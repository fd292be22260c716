import json

import pytest

from blocks import ids, limits, reasons, words
from blocks.forms import edit_text
from blocks.modals import Final, confirm_modal, edit_modal, notice_modal, reject_modal, respond_modal, result_modal
from blocks.models import BatchView, Mask, TypedDraft
from blocks.windows import batch_modal, page_contents, page_of, review_modal
from bot.sandbox.slack.blockkit.views import problems_in_view
from tests.kit.block_calls import (
    ALL,
    SHOWING,
    action_ids,
    all_texts,
    choices,
    dicts,
    make_batch,
    make_call,
    make_review,
    make_settled,
    renumbered,
    shown_text,
)

FOUR_PAGES = json.dumps({"q": "DELETE FROM carts WHERE age > 30;\n" * 600})


def inputs(view):
    return {block["block_id"]: block for block in view["blocks"] if block["type"] == "input"}


def test_a_reason_may_stay_empty_and_says_that_the_agent_reads_it():
    rendered = reject_modal(make_call(position=2, total=3))
    field = inputs(rendered.view)["m.2"]
    assert field["optional"]
    assert "agent reads" in field["label"]["text"]
    assert rendered.offers[0].offered == ("reject",)


def test_an_answer_is_required():
    rendered = respond_modal(make_call())
    assert not inputs(rendered.view)["m.0"]["optional"]
    assert rendered.view["callback_id"] == ids.CALLBACK_RESPOND


def test_what_was_typed_comes_back_under_its_revision():
    field = inputs(respond_modal(make_call(), TypedDraft("respond", "eu-1", revision=3)).view)["m.0.r3"]
    assert field["element"]["initial_value"] == "eu-1"


def test_a_modal_carries_the_showing_and_nothing_else():
    for rendered in (
        reject_modal(make_call()),
        edit_modal(make_call()),
        review_modal(make_review(make_call())),
        batch_modal(make_batch(20)),
    ):
        assert rendered.view["private_metadata"] == SHOWING


def test_a_banner_says_why_the_modal_is_here_again():
    view = respond_modal(make_call(), banner="The answer is empty.").view
    assert view["blocks"][0]["elements"][0]["text"] == "⚠️ *The answer is empty.*"


def test_the_edit_form_holds_the_arguments_as_they_were_written():
    arguments = '{"big": 12345678901234567890, "amount": 12.70, "to": "a\\u202eb", "none": null, "empty": ""}'
    text = inputs(edit_modal(make_call(arguments=arguments)).view)["e.0"]["element"]["initial_value"]
    assert '"big": 12345678901234567890' in text
    assert '"amount": 12.70' in text
    assert r'"to": "a\u202eb"' in text
    assert json.loads(text) == json.loads(arguments)


def test_the_edit_form_of_no_arguments_opens_with_an_empty_object():
    assert inputs(edit_modal(make_call(arguments="{}")).view)["e.0"]["element"]["initial_value"] == "{}"


@pytest.mark.parametrize("size", [2_850, 2_950, 6_000, 50_000])
def test_the_edit_form_never_opens_with_arguments_cut_short(size):
    arguments = json.dumps({"path": "/a", "content": "L" * size})
    rendered = edit_modal(make_call(arguments=arguments))
    fields = inputs(rendered.view)
    if fields:
        assert json.loads(fields["e.0"]["element"]["initial_value"]) == json.loads(arguments)
        assert fields["e.0"]["element"]["max_length"] == 3_000
    else:
        assert "submit" not in rendered.view
        assert rendered.offers[0].offered == ()
        assert size > 2_850


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (make_call(arguments="[1]"), words.CANNOT_EDIT_SHAPE),
        (make_call(arguments=None), words.CANNOT_EDIT_SHAPE),
        (make_call(masks=(Mask(("reason",), declared=True),)), words.CANNOT_EDIT_HIDDEN),
    ],
)
def test_what_cannot_be_edited_says_why_and_has_no_submit(call, why):
    view = edit_modal(call).view
    assert why in all_texts(view)
    assert "submit" not in view


def test_an_object_too_deep_for_a_tree_is_not_offered_for_editing():
    assert edit_text('{"a": ' + "[" * 60 + "]" * 60 + "}") is None


def test_a_notice_has_one_sentence_and_no_submit():
    view = notice_modal("A title that is much too long for Slack", "Too late.").view
    assert len(view["title"]["text"]) == limits.MODAL_TITLE
    assert "submit" not in view


def test_a_short_call_can_be_approved_in_its_private_view_at_once():
    rendered = review_modal(make_review(make_call()))
    assert choices(rendered.view, 0) == ALL
    assert (rendered.page, rendered.pages) == (0, 1)


def test_a_long_call_offers_approve_only_on_the_last_page_after_all_others():
    call = make_call(arguments=FOUR_PAGES)
    assert len(page_contents(call)) == 4
    for page in range(3):
        assert "approve" not in choices(review_modal(make_review(call, page=page, seen=frozenset(range(4)))).view, 0)
    assert "approve" not in choices(review_modal(make_review(call, page=3, seen=frozenset({0, 1}))).view, 0)
    last = review_modal(make_review(call, page=3, seen=frozenset({0, 1, 2})))
    assert "approve" in choices(last.view, 0)
    assert last.offers[0].complete


def test_every_page_leads_on_and_back():
    call = make_call(arguments=FOUR_PAGES)
    turns = [action_ids(review_modal(make_review(call, page=page)).view["blocks"]) for page in range(4)]
    assert turns == [[ids.PAGE_NEXT], [ids.PAGE_BACK, ids.PAGE_NEXT], [ids.PAGE_BACK, ids.PAGE_NEXT], [ids.PAGE_BACK]]


def test_a_page_that_goes_on_from_the_one_before_says_so():
    call = make_call(arguments=FOUR_PAGES)
    assert f" {words.GOES_ON_FROM}" not in all_texts(review_modal(make_review(call)).view)
    assert f" {words.GOES_ON_FROM}" in all_texts(review_modal(make_review(call, page=1)).view)


def test_the_pages_together_show_everything():
    call = make_call(arguments=FOUR_PAGES)
    shown = "".join(
        element["text"]
        for page in range(4)
        for each in dicts(review_modal(make_review(call, page=page)).view["blocks"])
        if each.get("type") == "rich_text_preformatted"
        for element in each["elements"]
    )
    assert shown.replace(r"\u000a{1}", "\n") == json.loads(FOUR_PAGES)["q"]


def test_a_page_out_of_range_opens_the_nearest():
    call = make_call(arguments=FOUR_PAGES)
    assert review_modal(make_review(call, page=99)).page == 3
    assert review_modal(make_review(call, page=-1)).page == 0


def test_a_call_of_more_than_twenty_pages_is_never_approvable_and_says_so():
    call = make_call(arguments=json.dumps({"q": "x" * 150_000}))
    rendered = review_modal(make_review(call, page=19, seen=frozenset(range(20))))
    assert choices(rendered.view, 0) == ("reject", "respond")
    assert any("too long to be approved here" in text for text in all_texts(rendered.view))


def test_a_tool_name_that_fits_no_view_is_never_approvable():
    assert "approve" not in choices(review_modal(make_review(make_call(tool="t" * 5_000))).view, 0)


def test_a_suspected_secret_is_shown_in_the_private_view_and_a_declared_one_only_when_revealed():
    call = make_call(
        arguments='{"url": "token=abc", "password": "hunter2"}',
        masks=(Mask(("url",), declared=False), Mask(("password",), declared=True)),
    )
    shown = shown_text(review_modal(make_review(call)).view["blocks"])
    assert "token=abc" in shown
    assert "hunter2" not in shown
    assert "hunter2" in shown_text(review_modal(make_review(call, reveal=True)).view["blocks"])


def test_a_settled_call_can_be_read_in_full_but_not_decided():
    rendered = review_modal(make_review(make_settled("executed")))
    assert inputs(rendered.view) == {}
    assert "submit" not in rendered.view


def test_choosing_a_decision_brings_its_own_input_and_no_other():
    for decision, kinds in {None: "d", "approve": "d", "edit": "d", "reject": "dm", "respond": "da"}.items():
        view = review_modal(make_review(make_call(), draft=TypedDraft(decision))).view
        assert [block_id[0] for block_id in inputs(view)] == list(kinds)
        assert inputs(view)["d.0"]["dispatch_action"]


def test_a_full_view_in_which_an_edit_is_chosen_leads_to_the_form():
    view = review_modal(make_review(make_call(), draft=TypedDraft("edit"))).view
    assert view["submit"]["text"] == words.SUBMIT_TO_EDIT
    assert reasons.EDIT_NEXT in all_texts(view)


def test_a_result_of_a_megabyte_is_paged_and_says_how_much_of_it_can_be_read():
    text = "".join(f"{number:07d}\n" for number in range(125_000))
    first, last = (result_modal(make_settled("executed"), text, page=page) for page in (0, 99))
    assert (first.pages, last.page) == (limits.PAGES, limits.PAGES - 1)
    assert "of 1,000,000 characters can be read here" in str(last.view)
    assert action_ids(first.view["blocks"]) == [ids.PAGE_NEXT]
    assert action_ids(last.view["blocks"]) == [ids.PAGE_BACK]
    assert problems_in_view(last.view) == []


def test_an_edit_chosen_in_a_batch_has_a_way_to_its_form_and_shows_what_is_kept():
    chosen = batch_modal(make_batch(2, drafts=((1, TypedDraft("edit")),))).view["blocks"]
    kept = batch_modal(make_batch(2, drafts=((1, TypedDraft("edit", kept='{"user_id": "u_9"}')),))).view["blocks"]
    assert reasons.EDIT_NOT_KEPT in all_texts(chosen)
    assert [block["block_id"] for block in chosen if ids.EDIT in action_ids([block])] == ["o.1"]
    assert "becomes u_9" in shown_text(kept)
    assert reasons.EDIT_NOT_KEPT not in all_texts(kept)
    assert [block["block_id"] for block in kept if ids.EDIT in action_ids([block])] == ["o.1"]


def test_an_edit_of_a_batch_is_kept_and_not_approved_by_itself():
    view = confirm_modal(make_call(), Final('{"user_id": "u_9"}', ""), in_batch=True).view
    assert (view["callback_id"], view["submit"]["text"]) == (ids.CALLBACK_KEEP, words.SUBMIT_KEEP)
    assert reasons.KEPT_UNTIL_SENT in all_texts(view)


def test_an_answer_that_is_the_only_choice_needs_no_choosing():
    view = review_modal(make_review(make_call(offered=("respond",)))).view
    assert list(inputs(view)) == ["m.0"]
    assert not inputs(view)["m.0"]["optional"]


def test_a_draft_of_what_is_no_longer_offered_is_not_chosen():
    view = review_modal(make_review(make_call(offered=("reject",)), draft=TypedDraft("approve"))).view
    assert "initial_option" not in inputs(view)["d.0"]["element"]


@pytest.mark.parametrize(("count", "pages"), [(1, 1), (5, 1), (6, 2), (25, 5), (100, 20)])
def test_a_batch_has_five_calls_to_a_page_and_sends_on_the_last(count, pages):
    seen = [batch_modal(make_batch(count, page=page)) for page in range(pages)]
    assert [each.view["submit"]["text"] for each in seen] == [words.SUBMIT_NEXT] * (pages - 1) + [words.SUBMIT_BATCH]
    assert [offer.position for each in seen for offer in each.offers] == list(range(count))
    assert all(each.pages == pages for each in seen)
    assert page_of(count - 1) == pages - 1


def test_calls_of_a_batch_are_numbered_from_one_in_request_order():
    texts = [text.strip() for text in all_texts(batch_modal(make_batch(25, page=4)).view)]
    assert [text for text in texts if text.endswith("of 25")] == [
        "21 of 25",
        "22 of 25",
        "23 of 25",
        "24 of 25",
        "25 of 25",
    ]


def test_each_call_of_a_batch_offers_its_own_decisions_by_position():
    calls = renumbered(
        (make_call(tool="transfer", offered=("approve", "reject")), make_call(tool="transfer", offered=("reject",)))
    )
    view = batch_modal(BatchView(SHOWING, calls)).view
    assert choices(view, 0) == ("approve", "reject")
    assert choices(view, 1) == ("reject",)


def test_a_call_that_does_not_fit_the_batch_has_no_approve_there_and_can_be_opened():
    calls = renumbered((make_call(arguments=json.dumps({"q": "x" * 9_000})), make_call()))
    rendered = batch_modal(BatchView(SHOWING, calls))
    assert "approve" not in choices(rendered.view, 0)
    assert "approve" in choices(rendered.view, 1)
    assert action_ids(rendered.view["blocks"]) == [ids.REVIEW]
    assert "r.0" in [block.get("block_id") for block in rendered.view["blocks"]]
    assert [offer.complete for offer in rendered.offers] == [False, True]


def test_a_call_decided_by_another_is_shown_as_decided_and_not_asked_again():
    rendered = batch_modal(BatchView(SHOWING, renumbered((make_call(), make_settled("decided")))))
    assert list(inputs(rendered.view)) == ["d.0"]
    assert any("*Approved* by <@U03BEN>" in text for text in all_texts(rendered.view))


def test_a_call_that_this_person_cannot_decide_says_so():
    rendered = batch_modal(BatchView(SHOWING, renumbered((make_call(offered=()), make_call()))))
    assert words.NOTHING_OFFERED in all_texts(rendered.view)
    assert rendered.offers[0].offered == ()


def test_a_batch_with_nothing_to_decide_has_no_submit():
    assert "submit" not in batch_modal(BatchView(SHOWING, renumbered((make_settled("executed"),)))).view
    assert batch_modal(BatchView(SHOWING, ())).pages == 1


def test_drafts_of_a_batch_stand_in_their_own_places():
    drafts = (
        (0, TypedDraft("reject", "no")),
        (1, TypedDraft("edit", kept='{"user_id": "u_2"}', revision=1)),
        (2, TypedDraft("respond", "eu")),
    )
    fields = inputs(batch_modal(make_batch(3, drafts=drafts)).view)
    assert list(fields) == ["d.0", "m.0", "d.1.r1", "d.2", "a.2"]


def test_a_confirmation_shows_old_and_new_what_stays_and_all_that_will_run():
    call = make_call(arguments='{"user_id": "u_1", "amount": 12.7, "old": 1}')
    rendered = confirm_modal(call, Final('{"user_id": "u_1", "amount": 12.70, "new": ""}', "c7qf2mzk9r4t"))
    shown = shown_text(rendered.view["blocks"])
    assert "amount  12.7 becomes 12.70" in shown
    assert 'new  nothing becomes ""' in shown
    assert "old  1 becomes left out" in shown
    assert "Unchanged  user_id" in shown
    assert "c7qf 2mzk 9r4t" in json.dumps(rendered.view)
    assert rendered.offers[0].offered == ("edit",)
    assert rendered.view["submit"]["text"] == words.SUBMIT_CONFIRM
    assert action_ids(rendered.view["blocks"]) == [ids.EDIT_BACK]


@pytest.mark.parametrize(
    "final", ["[1]", json.dumps({"a": "x" * 20_000}), json.dumps({str(at): at for at in range(500)})]
)
def test_an_edit_that_cannot_be_shown_whole_cannot_be_approved(final):
    rendered = confirm_modal(make_call(), Final(final, "c7qf2mzk9r4t"))
    assert "submit" not in rendered.view
    assert rendered.offers[0].offered == ()


def test_an_edit_to_no_arguments_says_that_nothing_is_left():
    assert words.NO_ARGUMENTS in all_texts(confirm_modal(make_call(), Final("{}", "")).view)


def test_a_very_wide_edit_names_its_first_changes_and_counts_the_rest():
    old, new = ({f"k{at:03}": side * 60 for at in range(100)} for side in "ab")
    rendered = confirm_modal(make_call(arguments=json.dumps(old)), Final(json.dumps(new), ""))
    assert any("of 100 changes shown in full" in text for text in all_texts(rendered.view))


def test_a_removed_name_of_any_length_is_a_change():
    rendered = confirm_modal(make_call(arguments=json.dumps({"k": 1, "n" * 90: 2, "n" * 91: 3})), Final('{"k": 1}', ""))
    assert words.NOTHING_CHANGED not in all_texts(rendered.view)
    assert all_texts(rendered.view).count(words.LEFT_OUT) == 2


def test_the_confirmation_of_a_high_risk_call_stands_in_every_window_that_approves():
    call = make_call(risk="high", arguments=json.dumps({"query": "SELECT 1;\n" * 20, "database": "billing"}))
    asked = "Tool: disable_user. query: see the window."
    views = [
        review_modal(make_review(call)).view,
        batch_modal(BatchView(SHOWING, renumbered((call, call)))).view,
        confirm_modal(call, Final(call.arguments, "")).view,
    ]
    assert [sum(asked in text for text in all_texts(view)) for view in views] == [1, 2, 1]


def test_the_window_of_an_edit_that_others_must_approve_shows_all_that_it_changed():
    gone = {f"gone {at}": f"value {at} " * 20 for at in range(60)}
    call = make_call(
        arguments='{"k": 1}', original=json.dumps({"k": 1} | gone), approvals=("U03BEN",), approvals_needed=2
    )
    count = len(page_contents(call))
    seen = frozenset(range(count))
    pages = [review_modal(make_review(call, page=page, seen=seen)) for page in range(count)]
    read = "".join(text for page in pages[1:] for text in all_texts(page.view))
    assert all(name in read and value.strip() in read for name, value in gone.items())
    assert any("of 60 changes shown in full" in text for text in all_texts(pages[0].view))
    assert [("approve" in page.offers[0].offered) for page in pages] == [False] * (count - 1) + [True]
    assert "approve" not in review_modal(make_review(call, page=count - 1)).offers[0].offered
