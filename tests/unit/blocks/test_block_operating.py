"""What operators read: alarms that quote what the server wrote, and a menu whose choices come back as they went out."""

import json

import pytest

from blocks import ids, words
from blocks.modals import operation_modal, operator_menu
from blocks.notices import alarm_text, operator_text
from bot.core.states import Operation
from bot.sandbox.slack.blockkit.messages import problems_in_message
from bot.sandbox.slack.blockkit.views import problems_in_view

SHOWING = "s_" + "a" * 26
HOSTILE = "run`<!channel>`\n<https://evil.example|x>" + "z" * 200


def test_an_unknown_outcome_is_told_with_the_command_that_settles_it():
    assert "`placet settle r_1 --as executed`" in alarm_text("unknown", review="r_1")


def test_a_race_names_the_other_run_and_a_second_copy_of_ours_names_none():
    assert "within a second of ours (run run-9)" in alarm_text("possibly_twice", review="r_1", runs=["run-9"])
    assert "Two runs carry this decision" in alarm_text("possibly_twice", review="r_1")


def test_a_race_at_a_server_that_runs_one_answer_at_a_time_is_not_called_a_double():
    text = alarm_text("raced", review="r_1", runs=["run-9"])

    assert "(run run-9)" in text
    assert "twice" not in text


def test_what_the_server_calls_a_run_pings_nobody_and_links_nowhere():
    text = alarm_text("possibly_twice", review="r_1", runs=[HOSTILE])

    assert "<!channel>" not in text
    assert "<https:" not in text
    assert "z" * 60 not in text


def test_an_operator_is_told_where():
    told = operator_text("Look.", review="r_1", tenant="acme", channel="C0APPROVALS")

    assert told == "Tenant acme in <#C0APPROVALS>, review `r_1`: Look."
    assert "<#" not in operator_text("Look.", review="r_1", tenant="acme", channel="C0|x> <!here")


@pytest.mark.parametrize("operation", list(Operation))
def test_each_operation_has_its_words_and_travels_through_slack(operation):
    (menu,) = operator_menu([operation.value], SHOWING)
    (option,) = menu["accessory"]["options"]
    view = operation_modal(operation.value, showing=SHOWING, tools=["disable_user"])

    assert ids.decode_operation(option["value"]) == (operation.value, SHOWING)
    assert option["text"]["text"] == words.MENU_PLAIN[operation]
    assert view["callback_id"] == f"operate.{operation}"
    assert problems_in_view(view) == []
    assert problems_in_message([menu], "text") == []


def test_every_operation_of_the_core_is_one_of_the_menu():
    assert set(Operation) == set(ids.OPERATIONS) == set(words.EXPLAINED)


@pytest.mark.parametrize("value", [None, "", "repair", f"erase:{SHOWING}", "repair:s_x", f"repair:{SHOWING}x", 5])
def test_any_other_value_is_no_operation(value):
    assert ids.decode_operation(value) is None


def test_nothing_to_ask_for_is_no_menu():
    assert operator_menu([], SHOWING) == []


def test_a_tools_name_stands_in_the_window_only_as_code():
    view = operation_modal("repair", showing=SHOWING, tools=[HOSTILE])
    (shown,) = [block for block in view["blocks"] if block["type"] == "rich_text"]
    (name,) = [one for one in shown["elements"][0]["elements"] if one.get("style", {}).get("code")]

    assert "<!channel>" in name["text"]
    assert json.dumps(view).count("<!channel>") == 1
