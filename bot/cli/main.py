"""The command line: `placet …`, and `python -m bot …`, which is the same program.

Every fault that a person can mend is one line that names it and its mend, and exit code 2. This module must not hold any
logic beyond reading arguments and printing.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Coroutine
from importlib.metadata import version
from typing import Annotated, Any

import typer

from bot.cli.audit import app as audit_app
from bot.cli.doctor import doctor
from bot.cli.operators import pause, reopen, repair, resume, settle
from bot.cli.policy import app as policy_app
from bot.cli.reviews import pending, show, stats
from bot.errors import PlacetError
from bot.settings import Settings, read

app = typer.Typer(
    name="placet",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(policy_app, name="policy", help="Check, compare, apply and explain policy files.")
app.command()(pending)
app.command()(show)
app.command()(stats)
app.command()(doctor)
app.add_typer(audit_app, name="audit", help="Verify and export the audit.")
for operate in (pause, resume, settle, reopen, repair):
    app.command()(operate)


def _print_version(asked: bool) -> None:  # noqa: FBT001
    if asked:
        typer.echo(f"placet {version('placet')}")
        raise typer.Exit


@app.callback()
def placet(
    _version: Annotated[  # noqa: FBT002
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Slack approvals for LangChain and LangGraph agents."""


def settings() -> Settings:
    """The environment, read once per command, with logging set up by it."""
    from bot import logs

    found = read(os.environ)
    logs.configure(found.log_format)
    return found


@app.command()
def serve() -> None:
    """Run the bot in front of Slack and the policy's agent servers."""
    from bot.serve import serve as run_serve

    _run(run_serve(settings()))


@app.command()
def demo(
    port: Annotated[
        int, typer.Option(min=0, max=65_534, help="Port of the page; the bot's own HTTP is on the next one.")
    ] = 8420,
    headless: Annotated[  # noqa: FBT002
        bool, typer.Option("--headless", help="Print the addresses as JSON and propose nothing.")
    ] = False,
) -> None:
    """Run a local Slack, a local agent and the bot on this machine: nothing to sign up for."""
    from bot import logs

    logs.configure("text", level=logging.WARNING)
    if not headless:
        typer.echo("Starting a local Slack, a local agent and the bot: a few seconds.")
    try:
        from bot.demo import main as run_demo
    except ModuleNotFoundError as exc:
        typer.echo(
            f"placet: the demo needs the extra `demo` ({exc.name} is missing): uv run --extra demo placet demo",
            err=True,
        )
        raise typer.Exit(2) from exc
    _run(run_demo(port=port, headless=headless))


@app.command()
def migrate() -> None:
    """Bring the database to this version's schema."""
    from bot.store.upgrade import migrate as run_migrate

    _run(run_migrate(settings().database_url))
    typer.echo("The database is up to date.")


def _run(work: Coroutine[Any, Any, Any]) -> None:
    try:
        asyncio.run(work)
    except KeyboardInterrupt:
        return


def main() -> None:
    """Run the program; exit 2 with one line for whatever a person can mend."""
    try:
        app(standalone_mode=True)
    except PlacetError as exc:
        typer.echo(f"placet: {exc}", err=True)
        sys.exit(2)
