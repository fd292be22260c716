"""Who may know whom: proved by reading every module's imports, also those inside functions."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Modules of the standard library that compute and do nothing else.
PURE = names("""
    __future__ abc base64 bisect collections contextlib copy dataclasses datetime decimal difflib enum fnmatch fractions
    functools hashlib heapq hmac html ipaddress itertools json keyword math numbers operator re string struct textwrap
    types typing unicodedata urllib.parse
""")
CORE_ALSO = names("bot.core yaml jsonschema referencing")
# The command line hands the environment on; its parts are named after it.
READERS_OF_THE_ENVIRONMENT = ("bot.settings", "bot.cli")
ALLOWED_INTO_THE_SANDBOX = names("bot.demo")
# What reads a clock, makes an id, loads by name or leaves the process, whatever it was imported as.
IMPURE = names("""
    now utcnow today uuid1 uuid4 urandom token_hex token_bytes token_urlsafe getrandbits randbytes time_ns monotonic
    perf_counter getenv open print input exec eval __import__ import_module getLogger
""")
ENVIRONMENT = names("environ environb getenv getenvb putenv unsetenv")


def modules(*tops: str) -> dict[str, ast.Module]:
    """Every module under these packages, by its dotted name."""
    files = [path for top in tops for path in sorted((ROOT / top).rglob("*.py"))]
    return {dotted(path): ast.parse(path.read_text(encoding="utf-8")) for path in files}


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(name: str, module: ast.Module) -> Iterator[str]:
    """What a module imports, absolute; of `from x import y` both `x` and `x.y`, since y may be a module."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = start_of(name, node)
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)


def start_of(name: str, node: ast.ImportFrom) -> str:
    """The absolute name that a `from` import starts at."""
    if not node.level:
        return node.module or ""
    parts = name.split(".")
    package = parts if (ROOT / Path(*parts) / "__init__.py").exists() else parts[:-1]
    return ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])


def within(imported: str, *tops: str) -> bool:
    return any(imported == top or imported.startswith(f"{top}.") for top in tops)


def outside(read: Mapping[str, ast.Module], *allowed: str) -> dict[str, list[str]]:
    """Module by module, the imports that are not among the allowed."""
    found = {name: [one for one in imports(name, module) if not within(one, *allowed)] for name, module in read.items()}
    return {name: wrong for name, wrong in found.items() if wrong}


def called(module: ast.Module) -> set[str]:
    """The last names of everything that is called."""
    functions = (node.func for node in ast.walk(module) if isinstance(node, ast.Call))
    return {
        each.attr if isinstance(each, ast.Attribute) else each.id
        for each in functions
        if isinstance(each, ast.Attribute | ast.Name)
    }


def touched(module: ast.Module) -> set[str]:
    """Names of the environment that a module mentions."""
    attributes = {node.attr for node in ast.walk(module) if isinstance(node, ast.Attribute)}
    imported = {one.name for node in ast.walk(module) if isinstance(node, ast.ImportFrom) for one in node.names}
    return (attributes | imported) & ENVIRONMENT


# Folders from the command line down to the core: a module imports from its own folder and from those after it.
FOLDERS = (
    *("cli", "doctor", "demo", "serve", "app", "web", "operators", "dispatch", "slack", "access", "runtimes", "store"),
    *("policy", "core"),
)
# The watcher and the probe of LangGraph still ask dispatch for alarms and its re-check.
UPWARD = {("runtimes", "dispatch")}

BLOCKS, BOT = modules("blocks"), modules("bot")
CORE = {name: module for name, module in BOT.items() if within(name, "bot.core")}
POLICY = {name: module for name, module in BOT.items() if within(name, "bot.policy")}
SANDBOX = {name: module for name, module in BOT.items() if within(name, "bot.sandbox")}


def test_there_is_something_to_read():
    assert {"bot.core", "bot.core.decide"} <= CORE.keys()
    assert "bot.sandbox" in SANDBOX
    assert "blocks" in BLOCKS


def test_the_builders_import_only_what_computes_and_each_other():
    assert outside(BLOCKS, *PURE, "blocks") == {}


def test_the_core_imports_only_what_computes_and_itself():
    assert outside(CORE, *PURE, *CORE_ALSO) == {}


def test_the_policy_imports_only_what_computes_the_core_and_itself():
    assert outside(POLICY, *PURE, *CORE_ALSO, "bot.policy") == {}


def test_pure_modules_read_no_clock_make_no_id_and_open_nothing():
    pure = {**BLOCKS, **CORE, **POLICY}
    assert {name: called(module) & IMPURE for name, module in pure.items() if called(module) & IMPURE} == {}


def test_the_sandbox_knows_nothing_of_the_program_that_it_judges():
    known = {
        name: [one for one in imports(name, module) if within(one, "blocks", "bot") and one != "bot"]
        for name, module in SANDBOX.items()
    }
    assert {
        name: wrong for name, used in known.items() if (wrong := [o for o in used if not within(o, "bot.sandbox")])
    } == {}


def test_nothing_but_the_demo_imports_the_sandbox():
    others = {name: module for name, module in {**BOT, **BLOCKS}.items() if name not in SANDBOX}
    guests = {
        name for name, module in others.items() if any(within(one, "bot.sandbox") for one in imports(name, module))
    }
    assert guests <= ALLOWED_INTO_THE_SANDBOX


def test_arrows_between_folders_point_down():
    upward = {
        (folder, below)
        for name, module in BOT.items()
        if (folder := folder_of(name)) in FOLDERS
        for one in imports(name, module)
        if (below := folder_of(one)) in FOLDERS and FOLDERS.index(below) < FOLDERS.index(folder)
    }
    assert upward == UPWARD


def folder_of(module: str) -> str:
    """The folder or file right under `bot` that a module stands in; "" outside `bot`."""
    top, _, rest = module.partition(".")
    return rest.partition(".")[0] if top == "bot" else ""


def test_no_public_class_name_means_two_things():
    classes = Counter(
        node.name
        for module in {**BOT, **BLOCKS}.values()
        for node in module.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, times in classes.items() if times > 1] == []


def test_the_environment_is_read_in_one_place():
    readers = {name for name, module in {**BOT, **BLOCKS}.items() if touched(module)}
    assert {name for name in readers if not name.startswith(READERS_OF_THE_ENVIRONMENT)} == set()


def test_loading_the_core_and_the_builders_loads_no_library_that_speaks_to_the_world():
    program = f"import sys, {', '.join(sorted([*CORE, *POLICY, *BLOCKS]))}\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    tops = {module.partition(".")[0] for module in loaded.stdout.split()}
    assert not tops & names("slack_bolt slack_sdk aiohttp httpx sqlalchemy aiosqlite alembic starlette structlog")


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


@pytest.mark.parametrize(
    "source", ["import os\nos.environ['A']", "from os import getenv", "import os as o\no.putenv('A', 'b')"]
)
def test_touching_the_environment_is_found_however_it_is_written(source):
    assert touched(ast.parse(source))


@pytest.mark.parametrize("source", ["datetime.now(UTC)", "open('f')", "uuid.uuid4()", "import_module('httpx')"])
def test_an_impure_call_is_found_however_it_is_written(source):
    assert called(ast.parse(source)) & IMPURE
