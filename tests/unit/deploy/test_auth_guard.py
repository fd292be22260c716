"""The auth guard lets one copy of an answer through, and stands before an operator's own handlers."""

from __future__ import annotations

import ast
import asyncio
import itertools
import re
import sqlite3
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

import pytest
from langgraph_sdk import Auth

from bot.deploy import auth_guard
from bot.deploy.auth_guard import guard
from tests.test_boundaries import BOT, imports, within

ROOT = Path(__file__).parents[3]
IID, OTHER = "0123456789abcdef0123456789abcdef", "f" * 32
NOW = 1_700_000_000.0
THREAD = "6d1f3c52-8f0a-4a52-9f52-0d8d4d1c9f11"


def aegra(dispatch="d_1", *, resume=None, thread=THREAD, **marks):
    """A request as Aegra hands it to the handler."""
    metadata = {**({"placet_dispatch": dispatch, "placet_attempt": 1} if dispatch else {}), **marks}
    command = {"resume": {IID: {"decisions": []}} if resume is None else resume}
    return {"assistant_id": "ops", "command": command, "config": {"metadata": metadata}, "thread_id": thread}


def langgraph(*args, **more):
    """The same as LangGraph does."""
    asked = aegra(*args, **more)
    return {"assistant_id": "ops", "thread_id": UUID(asked.pop("thread_id")), "metadata": {}, "kwargs": asked}


SHAPES = pytest.mark.parametrize("shape", [aegra, langgraph])


def guarded(auth=None, **options):
    """What a server would call for each new run: True where it is let through, else the refusal's status and words."""
    auth = guard(auth or Auth(), **{"clock": lambda: NOW, **options})
    (handler,) = auth._handlers[("threads", "create_run")]

    async def ask(value):
        try:
            answer = await handler(ctx=SimpleNamespace(user="app"), value=value)
        except Auth.exceptions.HTTPException as refused:
            return refused.status_code, refused.detail
        return True if answer is None else answer

    return ask


SEEN = (409, "auth guard: this was answered before")
LATE = (409, "auth guard: this answer comes too late: nobody waits for it any more")


@pytest.mark.asyncio
@SHAPES
async def test_one_of_many_copies_of_an_answer_is_let_through(shape):
    ask = guarded()

    answers = await asyncio.gather(*(ask(shape(placet_attempt=number)) for number in range(10)))

    assert sorted(answers, key=str) == [*[SEEN] * 9, True]
    assert await ask(shape("d_2")) is True


@pytest.mark.asyncio
@SHAPES
async def test_what_comes_after_an_attempt_that_the_server_refused_counts_as_new(shape):
    ask = guarded()

    assert await ask(shape("d_1", placet_attempt=1)) is True
    assert await ask(shape("d_1", placet_attempt=2, placet_since=2)) is True
    assert await ask(shape("d_1", placet_attempt=3, placet_since=2)) == SEEN
    assert await ask(shape("d_1", placet_attempt=1)) == SEEN


@pytest.mark.asyncio
@SHAPES
async def test_an_answer_that_nobody_waits_for_any_more_is_refused(shape):
    ask = guarded(leeway=60)

    assert await ask(shape("d_1", placet_not_after=(NOW - 61) * 1000)) == LATE
    assert await ask(shape("d_1", placet_not_after=int((NOW - 59) * 1000))) is True


@pytest.mark.asyncio
@SHAPES
async def test_what_is_no_answer_of_placets_passes(shape):
    ask = guarded()
    for _ in range(2):
        assert await ask(shape(None)) is True
        assert await ask({"thread_id": THREAD, "input": {}, "config": {"metadata": {"placet_dispatch": "d_1"}}}) is True
        assert await ask({"thread_id": THREAD, "kwargs": {"input": {}, "command": None, "config": None}}) is True


@pytest.mark.asyncio
@SHAPES
async def test_as_one_door_the_first_answer_to_an_interrupt_counts_whoever_sends_it(shape):
    ask = guarded(per="interrupt")

    assert await ask(shape(None)) is True
    assert await ask(shape("d_1")) == SEEN
    assert await ask(shape("d_1", resume={OTHER: 1})) is True
    assert await ask(shape(None, resume={IID: 1}, thread="0" * 8 + THREAD[8:])) is True


@pytest.mark.asyncio
@SHAPES
@pytest.mark.parametrize("resume", ["yes", {}, {"decisions": []}, {IID: 1, "x": 2}, [1]])
async def test_as_one_door_an_answer_must_say_which_interrupt_it_means(shape, resume):
    assert await guarded(per="interrupt")(shape(None, resume=resume)) == (
        409,
        "auth guard: an answer must name its interrupt here",
    )


def handler_of(auth, register, said):
    async def own(ctx, value):
        said.append(value["thread_id"])
        return False

    register(auth)(own)
    return auth


REGISTER = {
    "for new runs": lambda auth: auth.on.threads.create_run,
    "for threads": lambda auth: auth.on.threads,
    "for the action": lambda auth: auth.on(actions="create_run"),
    "for everything": lambda auth: auth.on,
}


@pytest.mark.asyncio
@pytest.mark.parametrize("register", REGISTER.values(), ids=REGISTER)
async def test_the_deployments_own_handler_still_decides_what_the_guard_lets_through(register):
    said = []
    ask = guarded(handler_of(Auth(), register, said))

    assert await ask(aegra()) is False
    assert await ask(aegra()) == SEEN
    assert said == [THREAD]


@pytest.mark.asyncio
async def test_a_handler_that_is_registered_after_the_guard_is_asked_as_well():
    auth, said = Auth(), []
    ask = guarded(auth)
    handler_of(auth, REGISTER["for threads"], said)

    assert await ask(aegra()) is False
    assert said == [THREAD]


@pytest.mark.asyncio
async def test_a_table_in_a_file_is_shared_by_processes_and_outlives_them(tmp_path):
    table = str(tmp_path / "seen.sqlite3")
    first, second = guarded(table=table), guarded(table=table)

    answers = await asyncio.gather(*(ask(aegra()) for ask, _ in itertools.product((first, second), range(3))))

    assert sorted(answers, key=str) == [*[SEEN] * 5, True]
    assert await guarded(table=table)(aegra()) == SEEN


@pytest.mark.asyncio
async def test_a_table_in_postgresql_is_shared_by_machines(postgres):
    name = postgres.new_database()
    first, second = (guarded(table=postgres.url(name)) for _ in range(2))

    answers = await asyncio.gather(*(ask(aegra()) for ask, _ in itertools.product((first, second), range(3))))

    assert sorted(answers, key=str) == [*[SEEN] * 5, True]
    assert await first(aegra("d_2")) is True
    postgres.drop_database(name)


@pytest.mark.asyncio
async def test_a_table_that_cannot_be_written_lets_nothing_through(tmp_path):
    table = tmp_path / "seen.sqlite3"
    ask = guarded(table=str(table))
    other = sqlite3.connect(table)
    other.execute("DROP TABLE placet_seen")
    other.close()

    with pytest.raises(sqlite3.OperationalError):
        await ask(aegra())


def test_an_unknown_mode_is_refused_at_the_start():
    with pytest.raises(ValueError, match="'dispatch' or 'interrupt'"):
        guard(Auth(), per="thread")


def test_the_file_can_be_copied_away_from_placet():
    tree = ast.parse(Path(auth_guard.__file__).read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert {name.partition(".")[0] for name in imported} & {"bot", "blocks"} == set()
    assert "langgraph_sdk" in imported


def test_nothing_of_the_bot_loads_what_is_meant_for_other_machines():
    users = [name for name, module in BOT.items() if any(within(one, "bot.deploy") for one in imports(name, module))]

    assert users == []


def examples(text):
    """The calls of the guard that a text shows."""
    return re.findall(r"^ *(guard\(auth.*?\))", text, re.MULTILINE)


def test_the_readme_shows_what_the_file_itself_says(tmp_path, monkeypatch):
    readme = (ROOT / "README.md").read_text()

    shown = examples(readme)

    assert shown
    assert set(shown) <= {*examples(auth_guard.__doc__), 'guard(auth, per="interrupt")'}
    monkeypatch.chdir(tmp_path)
    for call in shown:
        assert eval(call, {"guard": guard, "auth": Auth()})._handlers
