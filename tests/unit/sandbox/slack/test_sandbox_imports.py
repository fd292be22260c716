"""The workspace judges the bot with tables of its own: it imports nothing of what it judges."""

import ast
from pathlib import Path

import pytest

import bot.sandbox.slack

ROOT = Path(bot.sandbox.slack.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
OURS = ("bot.sandbox.slack", "bot.sandbox.serving")


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield node.module or "."


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_imports_nothing_of_the_bot_or_its_blocks(path):
    foreign = [
        name
        for name in imported(path)
        if name.partition(".")[0] in ("bot", "blocks", "slack_sdk", "slack_bolt") and not name.startswith(OURS)
    ]

    assert foreign == []


def test_validator_does_no_input_or_output():
    names = {name for path in (ROOT / "blockkit").glob("*.py") for name in imported(path)}
    outside = {name for name in names if not name.startswith("bot.sandbox.slack")}

    assert outside <= {"collections", "collections.abc", "dataclasses", "json", "re", "typing"}
