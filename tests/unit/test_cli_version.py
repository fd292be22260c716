from __future__ import annotations

import tomllib
from pathlib import Path

from typer.testing import CliRunner

from bot.cli.main import app

ROOT = Path(__file__).parents[2]


def test_the_version_is_the_one_of_the_project_file():
    written = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    answer = CliRunner().invoke(app, ["--version"])

    assert (answer.exit_code, answer.output) == (0, f"placet {written}\n")
