"""`placet policy check|plan|apply|explain`."""

from __future__ import annotations

import asyncio
import getpass
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.database import reading
from bot.errors import ConfigurationError
from bot.settings import read

if TYPE_CHECKING:
    from bot.policy.model import Policy, TenantPolicy
    from bot.policy.nodes import PolicyError
    from bot.policy.values import Form
    from bot.store import policies


app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

File = Annotated[Path, typer.Argument(help="A policy file (YAML).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as exc:
        raise ConfigurationError(f"{path} cannot be read: {exc.strerror}.") from exc
    except UnicodeDecodeError as exc:
        raise ConfigurationError(f"{path} is not UTF-8 text.") from exc


def _problems(error: PolicyError) -> list[dict[str, Any]]:
    return [
        {
            "level": "error",
            "line": one.line,
            "column": one.column,
            "path": one.path,
            "text": one.fault,
            "mend": one.mend,
        }
        for one in error.problems
    ]


def _read(path: Path, *, as_json: bool) -> tuple[str, Policy]:
    """The file's text and policy; prints every problem and exits 2 when there are any."""
    from bot.policy.nodes import PolicyError
    from bot.policy.source import parse

    text = _text(path)
    try:
        return text, parse(text)
    except PolicyError as exc:
        rows = _problems(exc)
        _print_findings(path, rows, as_json=as_json)
        raise typer.Exit(2) from exc


def _print_findings(path: Path, rows: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        said = ": ".join(part for part in (row["level"], row["path"], row["text"]) if part)
        mend = row["mend"] if row["mend"].endswith("?") else f"{row['mend']}."
        typer.echo(f"{path}:{row['line']}:{row['column']}: {said}. {mend}")


@app.command()
def check(file: File, as_json: AsJson = False) -> None:  # noqa: FBT002
    """Say what is wrong with a policy file, with line and column. Exit 2 on errors, 0 otherwise."""
    from bot.policy.lint import check as findings
    from bot.policy.source import locate

    text, policy = _read(file, as_json=as_json)
    rows: list[dict[str, Any]] = []
    for one in findings(policy):
        line, column = locate(text, one.path)
        rows.append(
            {"level": one.level, "line": line, "column": column, "path": one.path, "text": one.text, "mend": one.mend}
        )
    _print_findings(file, rows, as_json=as_json)
    if not as_json:
        typer.echo(f"{file}: {_several(len(policy.tenants), 'tenant')}, {_several(len(rows), 'remark')}")


def _several(number: int, one: str) -> str:
    return f"{number} {one}{'' if number == 1 else 's'}"


async def _stored() -> policies.StoredPolicy | None:
    from bot.store import policies

    return await reading(policies.current)


@app.command()
def plan(file: File, as_json: AsJson = False) -> None:  # noqa: FBT002
    """Say what applying a file would change: URLs first, then who gains and who loses what."""
    from bot.policy.diff import plan as changes
    from bot.policy.source import parse

    _, new = _read(file, as_json=as_json)
    stored = asyncio.run(_stored())
    found = changes(parse(stored.text) if stored else None, new)
    if as_json:
        typer.echo(json.dumps([_change_json(one) for one in found], indent=2))
        return
    for one in found:
        typer.echo(str(one))
    typer.echo(_several(len(found), "change") if found else "no changes")


def _change_json(change: Any) -> dict[str, Any]:
    return {name: getattr(change, name) for name in change.__slots__}


def _moved(old: Policy | None, new: Policy) -> list[str]:
    """Tenants whose waiting reviews would be superseded by a changed address."""
    if old is None:
        return []
    return [
        name
        for name, tenant in new.tenants.items()
        if name in old.tenants and old.tenants[name].agent.url != tenant.agent.url
    ]


@app.command()
def apply(
    file: File,
    rollback: Annotated[bool, typer.Option("--rollback", help="Allow a text that was in force before.")] = False,  # noqa: FBT002
    allow_url_change: Annotated[bool, typer.Option("--allow-url-change", help="Allow a changed agent URL.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Put a policy file in force as a new version. Every replica sees it at its next transaction."""
    from bot.policy.source import parse
    from bot.store import policies
    from bot.store.policies import text_digest
    from bot.store.upgrade import open_store

    text, new = _read(file, as_json=as_json)

    async def work() -> policies.StoredPolicy:
        store = await open_store(read(os.environ).database_url)
        try:
            async with store.begin() as tx:
                current = await policies.current(tx)
                moved = _moved(parse(current.text) if current else None, new)
                if moved and not allow_url_change:
                    raise ConfigurationError(
                        f"The agent URL of {', '.join(moved)} changes, which ends every waiting review there: "
                        "look at `placet policy plan`, then apply with --allow-url-change."
                    )
                return await policies.apply(
                    tx, text=text, digest=text_digest(text), by=f"operator:{getpass.getuser()}", rollback=rollback
                )
        finally:
            await store.close()

    applied = asyncio.run(work())
    if as_json:
        typer.echo(json.dumps({"version": applied.version, "digest": applied.digest, "by": applied.applied_by}))
    else:
        typer.echo(f"version {applied.version} is in force")


async def _groups(tenant: TenantPolicy, user: str) -> Mapping[str, int]:
    from bot.store import people

    return (await reading(lambda tx: people.account(tx, tenant.slack_team, user))).groups


def _require_id(text: str, form: Form) -> None:
    """A name where an id belongs would be explained as a person whom no rule knows."""
    if not form.pattern.fullmatch(text):
        raise ConfigurationError(f"{text[:60]!r} is not {form.what}. {form.mend}.")


@app.command()
def explain(  # noqa: PLR0913, PLR0917 - one parameter for each option
    tenant: Annotated[str, typer.Option(help="The tenant's name.")],
    tool: Annotated[str, typer.Option(help="The tool's name.")],
    user: Annotated[str, typer.Option(help="A Slack user id.")],
    file: Annotated[Path | None, typer.Option(help="Explain this file instead of the stored policy.")] = None,
    group: Annotated[list[str] | None, typer.Option(help="Take the person to be in this user group.")] = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Say what one person may decide on one tool, and by which rule."""
    from bot.policy.explain import explain as explained
    from bot.policy.source import parse
    from bot.policy.values import GROUP, USER
    from bot.store.policies import no_tenant

    _require_id(user, USER)
    for one in group or ():
        _require_id(one, GROUP)
    if file is not None:
        _, policy = _read(file, as_json=as_json)
    else:
        stored = asyncio.run(_stored())
        if stored is None:
            raise ConfigurationError("No policy is stored: apply one, or name one with --file.")
        policy = parse(stored.text)
    found = policy.tenants.get(tenant)
    if found is None:
        raise ConfigurationError(no_tenant(tenant, policy.tenants))
    known = list(group or ()) if group or file else list(asyncio.run(_groups(found, user)))
    answer = explained(found, tool, user, known)
    if as_json:
        typer.echo(json.dumps(answer, indent=2))
        return
    for decision, told in answer.items():
        typer.echo(f"{decision:8} {'yes' if told['allowed'] else 'no ':3} {told['why']}")
    for line in _told_of_tool(found, tool):
        typer.echo(line)


def _told_of_tool(tenant: TenantPolicy, tool: str) -> Iterator[str]:
    from bot.policy.matching import tool_settings

    settings = tool_settings(tenant, tool)
    if settings.channel != tenant.slack_channel:
        yield f"cards go to {settings.channel}"
    if settings.decisions is not None:
        yield f"where the agent server does not say what a call allows: {', '.join(settings.decisions)}"
    if settings.after_unknown == "hold":
        yield "while the outcome of a call is unknown, the tool's other calls and all of that thread are held back"
    if tenant.agent.show_context:
        yield f"cards show, of what a run was started with: {', '.join(tenant.agent.show_context)}"
