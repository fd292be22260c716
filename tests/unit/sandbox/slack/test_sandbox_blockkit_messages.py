"""Every limit of a message from the contract: the last value that passes and the first that does not."""

import pytest

from bot.sandbox.slack.blockkit.messages import problems_in_message
from tests.kit.slack_sandbox import actions, button, choice, field_block, marked, option, plain, section, text_input


def rich(*inline, kind="rich_text_section", **more):
    return {"type": "rich_text", "elements": [{"type": kind, "elements": list(inline), **more}]}


def line(text="x"):
    return {"type": "text", "text": text}


def confirm(**more):
    return {"title": plain(), "text": plain(), "confirm": plain(), "deny": plain(), **more}


def image(**more):
    return {"type": "image", "image_url": "https://example.com/a.png", "alt_text": "a", **more}


def of_length(make):
    """A builder of a message whose one string or list has n characters or items."""
    return lambda n: [make("x" * n)]


def accessory(element):
    return section(accessory=element)


LENGTHS = {
    "section text": (3000, of_length(section), "/blocks/0/text/text"),
    "section field": (2000, lambda n: [{"type": "section", "fields": [marked("x" * n)]}], "/blocks/0/fields/0/text"),
    "header": (150, lambda n: [{"type": "header", "text": plain("x" * n)}], "/blocks/0/text/text"),
    "context text": (3000, lambda n: [{"type": "context", "elements": [marked("x" * n)]}], "/blocks/0/elements/0/text"),
    "block_id": (255, lambda n: [section(block_id="x" * n)], "/blocks/0/block_id"),
    "action_id": (255, lambda n: [actions(button("x" * n))], "/blocks/0/elements/0/action_id"),
    "button text": (75, lambda n: [actions(button(text=plain("x" * n)))], "/blocks/0/elements/0/text/text"),
    "button value": (2000, lambda n: [actions(button(value="x" * n))], "/blocks/0/elements/0/value"),
    "button url": (3000, lambda n: [actions(button(url="x" * n))], "/blocks/0/elements/0/url"),
    "accessibility label": (
        75,
        lambda n: [actions(button(accessibility_label="x" * n))],
        "/blocks/0/elements/0/accessibility_label",
    ),
    "confirm title": (
        100,
        lambda n: [actions(button(confirm=confirm(title=plain("x" * n))))],
        "/blocks/0/elements/0/confirm/title/text",
    ),
    "confirm text": (
        300,
        lambda n: [actions(button(confirm=confirm(text=marked("x" * n))))],
        "/blocks/0/elements/0/confirm/text/text",
    ),
    "confirm button": (
        30,
        lambda n: [actions(button(confirm=confirm(confirm=plain("x" * n))))],
        "/blocks/0/elements/0/confirm/confirm/text",
    ),
    "deny button": (
        30,
        lambda n: [actions(button(confirm=confirm(deny=plain("x" * n))))],
        "/blocks/0/elements/0/confirm/deny/text",
    ),
    "input label": (2000, lambda n: [field_block(label="x" * n)], "/blocks/0/label/text"),
    "input hint": (2000, lambda n: [field_block(hint=plain("x" * n))], "/blocks/0/hint/text"),
    "placeholder": (
        150,
        lambda n: [field_block(element=text_input(placeholder=plain("x" * n)))],
        "/blocks/0/element/placeholder/text",
    ),
    "initial value": (
        3000,
        lambda n: [field_block(element=text_input(initial_value="x" * n))],
        "/blocks/0/element/initial_value",
    ),
    "option text": (
        75,
        lambda n: [accessory(choice("static_select", options=[option("a", "x" * n)]))],
        "/blocks/0/accessory/options/0/text/text",
    ),
    "option value": (
        150,
        lambda n: [accessory(choice("static_select", options=[option("x" * n, "a")]))],
        "/blocks/0/accessory/options/0/value",
    ),
    "option description": (
        75,
        lambda n: [accessory(choice(options=[option() | {"description": plain("x" * n)}]))],
        "/blocks/0/accessory/options/0/description/text",
    ),
    "image alt text": (2000, lambda n: [image(alt_text="x" * n)], "/blocks/0/alt_text"),
    "image url": (3000, lambda n: [image(image_url="x" * n)], "/blocks/0/image_url"),
    "image title": (2000, lambda n: [image(title=plain("x" * n))], "/blocks/0/title/text"),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_the_longest_string_that_slack_takes_passes(name):
    most, make, _ = LENGTHS[name]

    assert problems_in_message(make(most), "text") == []


@pytest.mark.parametrize("name", LENGTHS)
def test_one_character_more_is_refused_with_its_pointer(name):
    most, make, pointer = LENGTHS[name]

    (problem,) = problems_in_message(make(most + 1), "text")

    assert problem.error == "invalid_blocks"
    assert problem.line == f"[ERROR] must be less than {most + 1} characters [json-pointer:{pointer}]"


COUNTS = {
    "blocks": (50, lambda n: [section() for _ in range(n)], "/blocks"),
    "section fields": (10, lambda n: [{"type": "section", "fields": [marked()] * n}], "/blocks/0/fields"),
    "context elements": (10, lambda n: [{"type": "context", "elements": [marked()] * n}], "/blocks/0/elements"),
    "actions elements": (25, lambda n: [actions(*(button(f"a{i}") for i in range(n)))], "/blocks/0/elements"),
    "select options": (
        100,
        lambda n: [accessory(choice("static_select", *(f"o{i}" for i in range(n))))],
        "/blocks/0/accessory/options",
    ),
    "radio options": (
        10,
        lambda n: [accessory(choice("radio_buttons", *map(str, range(n))))],
        "/blocks/0/accessory/options",
    ),
    "checkbox options": (
        10,
        lambda n: [accessory(choice("checkboxes", *map(str, range(n))))],
        "/blocks/0/accessory/options",
    ),
    "overflow options": (
        5,
        lambda n: [accessory(choice("overflow", *map(str, range(n))))],
        "/blocks/0/accessory/options",
    ),
}


@pytest.mark.parametrize("name", COUNTS)
def test_as_many_items_as_slack_takes_pass(name):
    most, make, _ = COUNTS[name]

    assert problems_in_message(make(most), "text") == []


@pytest.mark.parametrize("name", COUNTS)
def test_one_item_more_is_refused_with_its_pointer(name):
    most, make, pointer = COUNTS[name]

    (problem,) = problems_in_message(make(most + 1), "text")

    assert (problem.error, problem.pointer) == ("invalid_blocks", pointer)
    assert problem.message == f"no more than {most} items allowed"


REFUSED = {
    "unknown block type": ([{"type": "markdown", "text": "x"}], "/blocks/0/type"),
    "block without type": ([{"text": plain()}], "/blocks/0"),
    "block that is no object": (["section"], "/blocks/0"),
    "unknown key on a block": ([{"type": "divider", "colour": "red"}], "/blocks/0"),
    "disabled button": ([actions(button(disabled=True))], "/blocks/0/elements/0"),
    "agent prompt on a button": ([actions(button(agent_prompt="x"))], "/blocks/0/elements/0"),
    "button style": ([actions(button(style="default"))], "/blocks/0/elements/0/style"),
    "button text in mrkdwn": ([actions(button(text=marked()))], "/blocks/0/elements/0/text/type"),
    "button without text": ([actions({"type": "button", "action_id": "a"})], "/blocks/0/elements/0"),
    "header in mrkdwn": ([{"type": "header", "text": marked()}], "/blocks/0/text/type"),
    "section without text": ([{"type": "section"}], "/blocks/0"),
    "section without fields in fields": ([{"type": "section", "fields": []}], "/blocks/0/fields"),
    "empty section text": ([section("")], "/blocks/0/text/text"),
    "empty button text": ([actions(button(text=plain("")))], "/blocks/0/elements/0/text/text"),
    "text that is a number": ([{"type": "section", "text": {"type": "mrkdwn", "text": 5}}], "/blocks/0/text/text"),
    "emoji on mrkdwn": ([{"type": "section", "text": marked() | {"emoji": True}}], "/blocks/0/text"),
    "verbatim on plain_text": ([{"type": "header", "text": plain() | {"verbatim": True}}], "/blocks/0/text"),
    "emoji that is no boolean": ([{"type": "header", "text": plain() | {"emoji": 1}}], "/blocks/0/text/emoji"),
    "empty actions": ([{"type": "actions", "elements": []}], "/blocks/0/elements"),
    "empty context": ([{"type": "context", "elements": []}], "/blocks/0/elements"),
    "elements that are no list": ([{"type": "actions", "elements": button()}], "/blocks/0/elements"),
    "text input among actions": ([actions(text_input())], "/blocks/0/elements/0/type"),
    "button as an input": ([field_block(element=button())], "/blocks/0/element/type"),
    "input without label": ([{"type": "input", "element": text_input()}], "/blocks/0"),
    "label in mrkdwn": ([field_block() | {"label": marked()}], "/blocks/0/label/type"),
    "confirm without deny": (
        [actions(button(confirm={"title": plain(), "text": plain(), "confirm": plain()}))],
        "/blocks/0/elements/0/confirm",
    ),
    "select without options": (
        [accessory({"type": "static_select", "action_id": "v"})],
        "/blocks/0/accessory",
    ),
    "select with options and groups": (
        [accessory(choice("static_select", option_groups=[{"label": plain(), "options": [option()]}]))],
        "/blocks/0/accessory",
    ),
    "select option in mrkdwn": (
        [accessory(choice("static_select", options=[{"text": marked(), "value": "a"}]))],
        "/blocks/0/accessory/options/0/text/type",
    ),
    "empty option value": ([accessory(choice(options=[option("", "a")]))], "/blocks/0/accessory/options/0/value"),
    "initial option that is not offered": (
        [accessory(choice(initial_option=option("c")))],
        "/blocks/0/accessory/initial_option",
    ),
    "initial option that differs in text": (
        [accessory(choice(initial_option=option("a", "A")))],
        "/blocks/0/accessory/initial_option",
    ),
    "initial options not offered": (
        [accessory(choice("checkboxes", initial_options=[option("a"), option("c")]))],
        "/blocks/0/accessory/initial_options/1",
    ),
    "number input without is_decimal_allowed": (
        [field_block(element={"type": "number_input", "action_id": "v"})],
        "/blocks/0/element",
    ),
    "number as a number": (
        [field_block(element={"type": "number_input", "is_decimal_allowed": True, "initial_value": 5})],
        "/blocks/0/element/initial_value",
    ),
    "decimal in a whole number input": (
        [field_block(element={"type": "number_input", "is_decimal_allowed": False, "initial_value": "5.5"})],
        "/blocks/0/element/initial_value",
    ),
    "max_length over 3000": ([field_block(element=text_input(max_length=3001))], "/blocks/0/element/max_length"),
    "max_length of 0": ([field_block(element=text_input(max_length=0))], "/blocks/0/element/max_length"),
    "max_length that is a boolean": (
        [field_block(element=text_input(max_length=True))],
        "/blocks/0/element/max_length",
    ),
    "min_length over max_length": (
        [field_block(element=text_input(min_length=5, max_length=4))],
        "/blocks/0/element/min_length",
    ),
    "initial value over max_length": (
        [field_block(element=text_input(initial_value="12345", max_length=4))],
        "/blocks/0/element/initial_value",
    ),
    "date that is none": (
        [field_block(element={"type": "datepicker", "initial_date": "2026-13-01"})],
        "/blocks/0/element/initial_date",
    ),
    "same block_id twice": ([section(block_id="b"), section(block_id="b")], "/blocks/1/block_id"),
    "empty block_id twice": ([section(block_id=""), section(block_id="")], "/blocks/1/block_id"),
    "same action_id twice in a block": (
        [actions(button("a"), button("a"))],
        "/blocks/0/elements/1/action_id",
    ),
    "rich text of an unknown kind": ([rich(line(), kind="rich_text_table")], "/blocks/0/elements/0/type"),
    "rich text without elements": ([{"type": "rich_text", "elements": []}], "/blocks/0/elements"),
    "empty rich text": ([rich(line(""))], "/blocks/0/elements/0/elements/0/text"),
    "unknown inline element": ([rich({"type": "blink", "text": "x"})], "/blocks/0/elements/0/elements/0/type"),
    "mention in preformatted": (
        [rich({"type": "user", "user_id": "U1"}, kind="rich_text_preformatted")],
        "/blocks/0/elements/0/elements/0/type",
    ),
    "unknown style": ([rich(line() | {"style": {"blink": True}})], "/blocks/0/elements/0/elements/0/style"),
    "list of text": (
        [rich(line(), kind="rich_text_list", style="bullet")],
        "/blocks/0/elements/0/elements/0/type",
    ),
    "list style": (
        [rich(kind="rich_text_list", style="roman") | {"block_id": "r"}],
        "/blocks/0/elements/0/style",
    ),
    "border of 2": ([rich(line(), kind="rich_text_preformatted", border=2)], "/blocks/0/elements/0/border"),
    "confirm that is no object": ([actions(button(confirm="sure?"))], "/blocks/0/elements/0/confirm"),
    "value that is a number": ([actions(button(value=5))], "/blocks/0/elements/0/value"),
    "alt text that is a number": (
        [{"type": "image", "image_url": "https://example.com", "alt_text": 5}],
        "/blocks/0/alt_text",
    ),
    "button that is a string": ([actions("go")], "/blocks/0/elements/0"),
    "image without alt text": ([{"type": "image", "image_url": "https://example.com"}], "/blocks/0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_slack_does_not_know_is_refused(name):
    blocks, pointer = REFUSED[name]

    problems = problems_in_message(blocks, "text")

    assert problems[0].error == "invalid_blocks"
    assert pointer in [problem.pointer for problem in problems]


ACCEPTED = {
    "all kinds of rich text": [
        {
            "type": "rich_text",
            "elements": [
                {
                    "type": "rich_text_section",
                    "elements": [
                        line() | {"style": {"bold": True, "code": True}},
                        {"type": "link", "url": "https://example.com", "text": "example.com"},
                        {"type": "user", "user_id": "U0ADA"},
                        {"type": "usergroup", "usergroup_id": "S0SUPPORT"},
                        {"type": "channel", "channel_id": "C0APPROVALS"},
                        {"type": "date", "timestamp": 1796040000, "format": "{time}", "fallback": "18:00 UTC"},
                        {"type": "emoji", "name": "tada"},
                        {"type": "broadcast", "range": "here"},
                    ],
                },
                {"type": "rich_text_preformatted", "border": 0, "elements": [line()]},
                {"type": "rich_text_quote", "elements": [line()]},
                {
                    "type": "rich_text_list",
                    "style": "ordered",
                    "indent": 0,
                    "elements": [{"type": "rich_text_section", "elements": [line()]}],
                },
            ],
        }
    ],
    "same action_id in two blocks": [actions(button("a"), block_id="b1"), actions(button("a"), block_id="b2")],
    "mrkdwn in radio options": [accessory(choice(options=[{"text": marked("*a*"), "value": "a"}]))],
    "grouped options": [
        accessory(
            {
                "type": "static_select",
                "option_groups": [{"label": plain(), "options": [option("a")]}],
                "initial_option": option("a"),
            }
        )
    ],
    "every picker": [
        actions(
            {"type": "users_select", "action_id": "1", "initial_user": "U0ADA"},
            {"type": "datepicker", "action_id": "2", "initial_date": "2026-12-01"},
            {"type": "timepicker", "action_id": "3", "initial_time": "23:59"},
            {"type": "datetimepicker", "action_id": "4", "initial_date_time": 1796040000},
            choice("overflow", "a") | {"action_id": "5"},
        )
    ],
    "every typed input": [
        field_block("1", element={"type": "number_input", "is_decimal_allowed": True, "initial_value": "-12.70"}),
        field_block("2", element={"type": "email_text_input"}),
        field_block("3", element={"type": "url_text_input"}),
        field_block("4", element=choice("checkboxes", initial_options=[option("a")]), optional=True),
    ],
    "header, context, divider": [
        {"type": "header", "text": plain() | {"emoji": False}},
        {"type": "context", "elements": [marked() | {"verbatim": True}, plain(), image()]},
        {"type": "divider"},
    ],
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_slack_knows_passes(name):
    assert problems_in_message(ACCEPTED[name], "text") == []


@pytest.mark.parametrize(
    ("text", "length"),
    [("&", 5), ("<", 4), (">", 4), ("\U0001f600", 2), ("é", 1), ("\ud800", 1)],
    ids=["ampersand", "less", "greater", "astral", "accent", "lone surrogate"],
)
def test_plain_text_counts_as_utf16_of_its_escaped_form(text, length):
    fits = "x" * (150 - length) + text

    assert problems_in_message([{"type": "header", "text": plain(fits)}], "t") == []
    assert problems_in_message([{"type": "header", "text": plain("x" + fits)}], "t") != []


@pytest.mark.parametrize(
    ("text", "length"),
    [("&amp;", 5), ("<@U0ADA>", 8), ("&", 5), ("a > b", 8)],
    ids=["entity", "mention", "bare", "sign"],
)
def test_mrkdwn_counts_its_own_entities_and_mentions_as_they_are(text, length):
    fits = "x" * (3000 - length) + text

    assert problems_in_message([section(fits)], "t") == []
    assert problems_in_message([section("x" + fits)], "t") != []


def test_text_over_all_blocks_is_limited_however_it_is_spread():
    blocks = [section("x" * 3000) for _ in range(3)]

    assert problems_in_message([*blocks, rich(line("x" * 3000))], "t") == []
    (problem,) = problems_in_message([*blocks, rich(line("x" * 3001))], "t")
    assert problem.error == "msg_blocks_too_long"


def test_text_of_an_update_is_limited_and_of_a_new_message_is_not():
    assert problems_in_message([], "x" * 40_000) == []
    assert problems_in_message([], "x" * 4000, update=True) == []
    assert [p.error for p in problems_in_message([], "x" * 4001, update=True)] == ["msg_too_long"]


def test_message_without_text_and_blocks_has_nothing_to_show():
    assert [p.error for p in problems_in_message([], "")] == ["no_text"]


def test_blocks_that_are_no_list_are_of_the_wrong_format():
    assert problems_in_message({"type": "divider"}, "t")[0].error == "invalid_blocks_format"
