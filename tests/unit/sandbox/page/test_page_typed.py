import pytest

from tests.kit.sandbox_page import open_page
from tests.kit.slack_sandbox import actions, button, choice, field_block, modal

pytestmark = pytest.mark.asyncio


async def typed(page, view, values, user="U0ADA"):
    return await page.http.post("/page/typed", json={"user": user, "view_id": view["id"], "values": values})


async def test_what_was_typed_goes_out_with_the_next_press_in_the_view():
    async with open_page() as page:
        view = await page.open(modal(field_block(), actions(button("turn"))))
        await typed(page, view, {"f": {"v": "half a rea"}})
        await page.do("click", user="U0ADA", view_id=view["id"], action_id="turn")

    assert page.bot.seen[-1]["view"]["state"]["values"]["f"]["v"]["value"] == "half a rea"


async def test_typing_alone_tells_the_app_nothing():
    async with open_page() as page:
        view = await page.open(modal(field_block(element=choice("checkboxes"), dispatch_action=True)))
        before = len(page.bot.seen)
        await typed(page, view, {"f": {"v": ["a", "b"]}})
        state = (await page.look("modal", user="U0ADA"))["state"]

    assert [option["value"] for option in state["f"]["v"]["selected_options"]] == ["a", "b"]
    assert len(page.bot.seen) == before


async def test_fields_that_the_view_no_longer_has_are_passed_over():
    async with open_page() as page:
        view = await page.open(modal(field_block()))
        answer = await typed(page, view, {"gone": {"v": "x"}, "f": {"other": "x", "v": "kept"}})
        state = (await page.look("modal", user="U0ADA"))["state"]

    assert answer.status_code == 200
    assert state == {"f": {"v": {"type": "plain_text_input", "value": "kept"}}}


async def test_the_same_text_again_changes_nothing():
    async with open_page() as page:
        view = await page.open(modal(field_block()))
        await typed(page, view, {"f": {"v": "x"}})
        before = page.world.bell.count
        await typed(page, view, {"f": {"v": "x"}})

    assert page.world.bell.count == before


@pytest.mark.parametrize(
    ("values", "status"), [({"f": {"v": "nosuch"}}, 422), ({"f": "x"}, 422), ({"f": {"v": {"a": 1}}}, 422)]
)
async def test_what_no_form_could_hold_is_refused(values, status):
    async with open_page() as page:
        view = await page.open(modal(field_block(element=choice())))
        answer = await typed(page, view, values)

    assert answer.status_code == status


async def test_nobody_types_into_a_view_of_somebody_else():
    async with open_page() as page:
        view = await page.open(modal(field_block()))
        answer = await typed(page, view, {"f": {"v": "x"}}, user="U0BEN")

    assert answer.status_code == 404
