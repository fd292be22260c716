"""`placet --help` answers at once: what reaches databases, Slack or agents is loaded by the commands that use it."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"sqlalchemy", "slack_sdk", "slack_bolt", "aiohttp", "httpx", "alembic", "starlette", "jsonschema"}
SAID = """
import sys
from bot.cli.main import app
try:
    app({words!r})
except SystemExit:
    pass
print(*sorted({{name.partition(".")[0] for name in sys.modules}}), file=sys.stderr)
"""


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["policy", "--help"], ["repair", "--help"]])
def test_help_loads_no_library_that_only_a_command_needs(words):
    done = subprocess.run([sys.executable, "-c", SAID.format(words=words)], capture_output=True, text=True, check=True)

    assert done.stdout
    assert set(done.stderr.split()) & HEAVY == set()
