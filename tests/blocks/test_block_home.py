"""One person's queue: what a list that may be cut says, and what is theirs while others are missing."""

from __future__ import annotations

import json

from blocks.home import HomeView, home_view
from blocks.queue import queue_answer
from tests.blocks.block_calls import make_call


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
