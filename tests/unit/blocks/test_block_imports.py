import ast
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "blocks"
MODULES = sorted(FOLDER.glob("*.py"))
PURE = {"base64", "collections", "dataclasses", "datetime", "enum", "functools", "json", "re", "typing", "unicodedata"}
CLOCKS = {"now", "utcnow", "today", "time", "urandom", "uuid4", "open", "print", "input", "exec", "eval", "__import__"}


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield node.module or "."


def called(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_blocks_import_only_pure_modules_and_themselves(path):
    tops = {name.split(".")[0] for name in imported(ast.parse(path.read_text()))}
    assert tops <= PURE | {"blocks"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_blocks_read_no_clock_and_do_no_input_or_output(path):
    assert CLOCKS.isdisjoint(called(ast.parse(path.read_text())))
