"""The agent server of a chaos run as a command: the sandbox's, or a real Aegra with the same graphs.

Both write the same effects file and are killed and started again the same way. Aegra's Python stands apart from ours and
is built the first time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.chaos.processes import ROOT, python
from tests.kit.postgres import Postgres
from tests.live import servers
from tests.live.pythons import environment

MANNERS = {"sandbox": "aegra", "sandbox-langgraph": "langgraph", "aegra": "aegra"}


@dataclass(frozen=True, slots=True)
class Program:
    """How to start it, where, and with what in its environment."""

    command: tuple[str, ...]
    environment: dict[str, str]
    cwd: Path


def agent_program(server: str, port: int, *, folder: Path, postgres: Postgres) -> Program:
    """The program for one of `MANNERS`. Raises `NoPython` where Aegra cannot be had."""
    if server == "aegra":
        return _aegra(port, folder, postgres)
    files = ("--database", str(folder / "agent.sqlite"), "--effects", str(folder / "effects.jsonl"))
    return Program(python("-m", "bot.sandbox.agents", "--port", str(port), "--kind", MANNERS[server], *files), {}, ROOT)


def _aegra(port: int, folder: Path, postgres: Postgres) -> Program:
    at = ("--host", "127.0.0.1", "--port", str(port))
    settings = {
        "DATABASE_URL": postgres.url(postgres.new_database("aegra")),
        "AEGRA_CONFIG": str(servers._write_config(folder / "aegra.json")),
        "AUTH_TYPE": "custom",
        "REDIS_BROKER_ENABLED": "false",
        "CRON_ENABLED": "false",
        "ENV_MODE": "LOCAL",
        "HOST": "127.0.0.1",
        "PORT": str(port),
    }
    program = str(environment("aegra", newer_than=(3, 12)))
    given = servers._environment(folder / "effects.jsonl", settings)
    return Program((program, "-m", "uvicorn", "aegra_api.main:app", *at), given, folder)
