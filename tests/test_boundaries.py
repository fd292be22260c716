"""Who may know whom: proved by reading every module's imports, also those inside functions."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Modules of the standard library that compute and do nothing else.
PURE = frozenset(
    "__future__ abc base64 bisect collections contextlib copy dataclasses datetime decimal difflib enum fnmatch fractions "
    "functools hashlib heapq hmac html ipaddress itertools json keyword math numbers operator re string struct textwrap "
    "types typing unicodedata urllib.parse".split()
)
CORE_ALSO = frozenset({"bot.core", "yaml", "jsonschema", "referencing"})
READERS_OF_THE_ENVIRONMENT = frozenset({"bot.settings", "bot.cli"})
ALLOWED_INTO_THE_SANDBOX = frozenset({"bot.demo"})
# What reads a clock, makes an id or leaves the process, whatever it was imported as.
IMPURE_NAMES = frozenset(
    "now utcnow today uuid1 uuid4 urandom token_hex token_bytes token_urlsafe getrandbits randbytes time_ns monotonic "
    "perf_counter environ getenv open print input exec eval __import__ import_module getLogger".split()
)


def modules(*tops: str) -> dict[str, ast.Module]:
    """Every module under these packages, by its dotted name."""
    files = [path for top in tops for path in sorted((ROOT / top).rglob("*.py"))]
    return {_dotted(path): ast.parse(path.read_text(encoding="utf-8")) for path in files}


def _dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(name: str, module: ast.Module) -> Iterator[str]:
    """What a module imports, absolute; of `from x import y` both `x` and `x.y`, since y may be a module."""
    package = _package(name)
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join([*package[: len(package) - node.level + 1], node.module or ""]).strip(".")
            source = base if node.level else node.module or ""
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)


def _package(name: str) -> list[str]:
    parts = name.split(".")
    return parts if (ROOT / Path(*parts) / "__init__.py").exists() else parts[:-1]


def within(imported: str, *tops: str) -> bool:
    return any(imported == top or imported.startswith(f"{top}.") for top in tops)


def foreign(name: str, module: ast.Module, allowed: frozenset[str]) -> list[str]:
    """Imports that are neither pure nor allowed; `x.y` of `from x import y` counts as its `x`."""
    return [imported for imported in imports(name, module) if not within(imported, *PURE, *allowed)]


BLOCKS, CORE, SANDBOX = modules("blocks"), modules("bot/core"), modules("bot/sandbox")
BOT = modules("bot")
REST = {name: module for name, module in BOT.items() if not within(name, "bot.sandbox")}


def test_there_is_something_to_read():
    assert {"bot.core.decide", "bot.core"} <= CORE.keys()
    assert BLOCKS
    assert SANDBOX


@pytest.mark.parametrize("name", BLOCKS)
def test_the_builders_import_only_what_computes_and_each_other(name):
    assert foreign(name, BLOCKS[name], frozenset({"blocks"})) == []


@pytest.mark.parametrize("name", CORE)
def test_the_core_imports_only_what_computes_and_itself(name):
    assert foreign(name, CORE[name], CORE_ALSO) == []


@pytest.mark.parametrize("name", [*BLOCKS, *CORE])
def test_pure_modules_read_no_clock_make_no_id_and_open_nothing(name):
    module = BLOCKS[name] if name in BLOCKS else CORE[name]
    called = {
        node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name)
    }
    assert not called & IMPURE_NAMES


@pytest.mark.parametrize("name", SANDBOX)
def test_the_sandbox_knows_nothing_of_the_program_that_it_judges(name):
    known = [imported for imported in imports(name, SANDBOX[name]) if within(imported, "blocks", "bot")]
    assert [imported for imported in known if imported != "bot" and not within(imported, "bot.sandbox")] == []


@pytest.mark.parametrize("name", sorted(REST.keys() - ALLOWED_INTO_THE_SANDBOX))
def test_nothing_but_the_demo_imports_the_sandbox(name):
    assert [imported for imported in imports(name, REST[name]) if within(imported, "bot.sandbox")] == []


@pytest.mark.parametrize("name", sorted({**BOT, **BLOCKS}.keys() - READERS_OF_THE_ENVIRONMENT))
def test_the_environment_is_read_in_one_place(name):
    module = BOT.get(name) or BLOCKS[name]
    touched = [
        node.lineno
        for node in ast.walk(module)
        if (isinstance(node, ast.Attribute) and node.attr in ("environ", "environb", "getenv", "getenvb", "putenv"))
        or (isinstance(node, ast.ImportFrom) and node.module == "os" and any("env" in one.name for one in node.names))
    ]
    assert touched == []


@pytest.mark.parametrize("name", sorted(name for name in REST if not within(name, "bot.core")))
def test_nothing_pure_is_borrowed_from_the_shell(name):
    """The arrows point one way: what the core or the builders import is never a module of the shell."""
    importers = [each for each, module in {**CORE, **BLOCKS}.items() if name != "bot" and name in imports(each, module)]
    assert importers == []


def test_loading_the_core_and_the_builders_loads_no_library_that_speaks_to_the_world():
    names = ", ".join(sorted([*CORE, *BLOCKS]))
    program = f"import sys, {names}\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    tops = {module.partition(".")[0] for module in loaded.stdout.split()}
    assert not tops & {
        "slack_bolt",
        "slack_sdk",
        "aiohttp",
        "httpx",
        "sqlalchemy",
        "aiosqlite",
        "starlette",
        "structlog",
    }


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import os.path", {"os.path"}),
        ("def late():\n    from slack_sdk import WebClient", {"slack_sdk", "slack_sdk.WebClient"}),
        ("from . import model", {"bot.core", "bot.core.model"}),
        ("from ..store import tables", {"bot.store", "bot.store.tables"}),
    ],
)
def test_an_import_is_found_however_it_is_written(source, found):
    assert set(imports("bot.core.decide", ast.parse(source))) == found
