"""One person's queue: what a list that may be cut says, and what is theirs while others are missing."""

from __future__ import annotations

import json

from blocks.home import HomeView, home_view, queue_answer
from tests.kit.block_calls import make_call, make_settled, shown_text


def test_a_list_that_may_be_cut_says_so_and_any_other_does_not():
    call = make_call(offered=("approve",))

    for looked_through, said in ((300, True), (None, False)):
        tab = home_view(HomeView((call,), 1, looked_through=looked_through)).view
        answer = queue_answer([call], None, looked_through).blocks
        assert ("only the 300 oldest" in json.dumps(tab), "only the 300 oldest" in json.dumps(answer)) == (said, said)


def test_a_call_that_waits_for_others_stands_with_what_was_decided_lately():
    waits = make_call(approvals_needed=3, approvals=("U03BEN", "U04ADA"))

    tab = home_view(HomeView((), 0, lately=(waits,))).view

    assert "Approved by you, 2 of 3" in json.dumps(tab)


EDITED = {"arguments": '{"user_id": "u_4821"}', "final": '{"user_id": "u_1"}'}


def test_what_was_decided_lately_stands_there_with_its_final_values():
    home = home_view(HomeView((), 0, lately=(make_settled("executed", "edit", **EDITED),)))
    shown = shown_text(home.view["blocks"])
    assert "edited:  u_1" in shown
    assert "u_4821" not in shown


def test_the_queue_names_what_would_run_of_an_edit_that_waits_for_others():
    standing = make_call(arguments='{"user_id": "u_1"}', original='{"user_id": "u_4821"}', approvals=("U03BEN",))
    shown = shown_text(queue_answer((standing, make_call()), None).blocks)
    assert "edited:  u_1" in shown
    assert shown.count("u_4821") == 1
