"""What the README shows of the program's output is what the program prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.main import app

README = Path(__file__).parents[1] / "README.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

BEFORE = """\
version: 1
operators: [U0OPS]
tenants:
  acme:
    slack: {team: T0ACME, channel: C0APPROVALS}
    agent:
      url: https://agents.acme.example
      kind: aegra
      api_key_env: PLACET_AGENT_KEY_ACME
      users: [approvals]
      assistant: agent_platform
    reviewers:
      - {group: S0SUPPORT, tools: [disable_user, "send_*"], may: [approve, edit, reject]}
      - {user: U0LEAD, tools: ["*"], may: [approve, edit, reject, respond]}
    tools:
      execute_sql: {title: Run SQL, risk: high, approvals: 2, resend: never}
"""
AFTER = (
    BEFORE.replace("agents.acme.example", "agents2.acme.example")
    .replace('[disable_user, "send_*"]', '["*"]')
    .replace("approvals: 2", "approvals: 1")
)


def shown(first: str) -> list[str]:
    """The lines of the README's block that begins with this."""
    blocks = [text for language, text in BLOCK.findall(README.read_text()) if not language]
    return next(text for text in blocks if text.startswith(first)).splitlines()


@pytest.fixture
def placet(tmp_path, monkeypatch):
    """Run a command on a database in a folder, in which the first policy is in force; answers what it prints."""
    monkeypatch.setenv("PLACET_DATABASE_URL", f"sqlite:///{tmp_path / 'placet.db'}")
    runner = CliRunner()

    def run(*words: str, text: str = "", code: int = 0) -> list[str]:
        file = tmp_path / "policy.yml"
        if text:
            file.write_text(text)
        done = runner.invoke(app, [*words, *([str(file)] if text else [])])
        assert done.exit_code == code, done.output
        return done.stdout.splitlines()

    run("migrate")
    run("policy", "apply", text=BEFORE)
    return run


def test_the_plan_in_the_readme_is_what_the_program_prints(placet):
    assert placet("policy", "plan", text=AFTER) == shown("acme: the agent URL")


def test_the_doctor_s_findings_in_the_readme_stand_so_in_what_it_prints_of_such_a_set_up(placet):
    printed = placet("doctor", code=1)

    told = shown("FAULT")
    start = printed.index(told[0])
    assert len(told) > 5
    assert printed[start : start + len(told)] == told
