from __future__ import annotations

import ast
from pathlib import Path

import pytest

import bot.policy

ALLOWED = {
    *("__future__", "collections", "dataclasses", "decimal", "difflib", "enum", "functools", "ipaddress", "itertools"),
    *("json", "operator", "re", "typing", "urllib.parse", "yaml"),
}
MODULES = sorted(Path(bot.policy.__file__).parent.glob("*.py"))


def imports_of(source: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_policy_modules_import_nothing_that_reaches_outside(module):
    names = imports_of(module.read_text(encoding="utf-8"))

    strangers = {name for name in names if name not in ALLOWED and name.split(".")[0] not in ALLOWED}
    assert {name for name in strangers if not name.startswith(("bot.core", "bot.policy"))} == set()
