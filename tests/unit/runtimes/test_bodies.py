import json

import pytest

from bot.core.json import Number, parse
from bot.runtimes.langgraph.resume import commands_body, resume_body

IID = "0123456789abcdef0123456789abcdef"
ANSWER = {"decisions": [{"type": "edit", "edited_action": {"name": "refund", "args": {"amount": Number("12.70")}}}]}


def make(maker=resume_body, *, interrupt_id: str = IID, answer_tree: object = None, kind: str = "aegra") -> bytes:
    return maker(
        assistant="ops",
        interrupt_id=interrupt_id,
        answer_tree=ANSWER if answer_tree is None else answer_tree,
        dispatch_id="d_1",
        attempt=2,
        kind=kind,
    )


@pytest.mark.parametrize("kind", ["aegra", "langgraph"])
def test_a_resume_is_keyed_marked_and_names_no_checkpoint(kind: str) -> None:
    assert parse(make(kind=kind)) == {
        "assistant_id": "ops",
        "command": {"resume": {IID: ANSWER}},
        "config": {"metadata": {"placet_dispatch": "d_1", "placet_attempt": Number("2")}},
        "multitask_strategy": "reject",
    }


def test_numbers_leave_as_they_were_written() -> None:
    assert b'"amount":12.70}' in make()


def test_a_command_answers_one_interrupt_under_the_attempts_number() -> None:
    assert parse(make(commands_body)) == {
        "id": Number("2"),
        "method": "input.respond",
        "params": {
            "interrupt_id": IID,
            "response": ANSWER,
            "assistant_id": "ops",
            "config": {"metadata": {"placet_dispatch": "d_1", "placet_attempt": Number("2")}},
        },
    }


@pytest.mark.parametrize("maker", [resume_body, commands_body])
@pytest.mark.parametrize("interrupt_id", ["", "nope", IID.upper(), IID[:-1], f"{IID}0", f"{IID}\n", "g" * 32])
def test_an_id_that_langgraph_would_not_read_as_a_key_is_never_sent(maker, interrupt_id: str) -> None:
    with pytest.raises(ValueError, match="cannot be used as a key"):
        make(maker, interrupt_id=interrupt_id)


def test_what_a_person_typed_leaves_as_ascii() -> None:
    body = make(answer_tree={"type": "respond", "message": "na\u00efve \u202e \U0001f600"})

    assert json.loads(body)["command"]["resume"][IID]["message"] == "na\u00efve \u202e \U0001f600"
    assert body.isascii()


@pytest.mark.parametrize(
    ("maker", "within"), [(resume_body, lambda body: body), (commands_body, lambda body: body["params"])]
)
def test_what_a_guard_goes_by_stands_beside_the_mark(maker, within) -> None:
    body = maker(
        assistant="ops",
        interrupt_id=IID,
        answer_tree=ANSWER,
        dispatch_id="d_1",
        attempt=4,
        kind="aegra",
        since=3,
        not_after=1_700_000_020_000,
    )

    marks = within(json.loads(body))["config"]["metadata"]
    assert (marks["placet_since"], marks["placet_not_after"]) == (3, 1_700_000_020_000)
