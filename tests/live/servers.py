"""Real agent servers on loopback, each serving the sandbox's own assistants and writing the same effects log.

What differs between the sandbox's server and these is then the server, and nothing else. Each runs in its own
environment and is stopped by its process id.
"""

import contextlib
import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.kit.postgres import Postgres, free_port
from tests.live.pythons import ROOT, environment

ASSISTANTS = ("ops", "agent_platform", "ops_per_call", "ops_account", "ops_when", "fanout", "freeform")
PATTERNS = (
    "batched",
    "deep_agent",
    "deep_subagent",
    "supervisor",
    "swarm",
    "send",
    "functional",
    "functional_agent",
    "task_in_node",
    "agent_in_task",
    "tool_interrupt",
)
ASKS_THRICE = "asks_thrice"
PER_CALL = ("per_call", "send_per_call")  # from LangChain 1.5.2 on
AUTH = "./graphs/auth.py:auth"
_GRAPHS = Path(__file__).with_name("graphs")


@dataclass(frozen=True, slots=True)
class LiveServer:
    """A real server that answers; `kind` is what a policy calls it."""

    kind: str
    url: str
    effects_file: Path
    log: Path
    process: "subprocess.Popen[bytes]"

    @property
    def pid(self) -> int:
        return self.process.pid

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def aegra_server(
    folder: Path, postgres: Postgres, *, guarded: bool = False, langchain: str | None = None
) -> Iterator[LiveServer]:
    """Aegra on a fresh database of `postgres`. Raises `pythons.NoPython` where no Python >= 3.12 is installed.

    `guarded`: with the auth guard, copied and called as the README tells an operator to. With an older `langchain` it
    serves the patterns only: the sandbox's assistants need the newest.
    """
    python = environment("aegra", newer_than=(3, 12), langchain=langchain)
    port = free_port()
    auth = _guarded(folder) if guarded else AUTH
    config = _write_config(folder / "aegra.json", auth=auth, newest=langchain is None)
    settings = {
        "DATABASE_URL": postgres.url(postgres.new_database("aegra")),
        "AEGRA_CONFIG": str(config),
        "AUTH_TYPE": "custom",
        "REDIS_BROKER_ENABLED": "false",
        "CRON_ENABLED": "false",
        "ENV_MODE": "LOCAL",
        "HOST": "127.0.0.1",
        "PORT": str(port),
    }
    command: list[str | Path] = [
        python,
        "-m",
        "uvicorn",
        "aegra_api.main:app",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    with _started("aegra", command, folder=folder, settings=settings, probe=f"http://127.0.0.1:{port}/health") as up:
        yield up


@contextlib.contextmanager
def langgraph_server(folder: Path, *, guarded: bool = False, langchain: str | None = None) -> Iterator[LiveServer]:
    """`langgraph dev`, in memory. As `aegra_server`; raises `pythons.NoPython` where no Python >= 3.11 is installed."""
    python = environment("langgraph", newer_than=(3, 11), langchain=langchain)
    port = free_port()
    auth = _guarded(folder) if guarded else AUTH
    config = _write_config(folder / "langgraph.json", auth=auth, newest=langchain is None)
    serve = ["dev", "--config", config.name, "--host", "127.0.0.1", "--port", str(port), "--no-browser", "--no-reload"]
    command: list[str | Path] = [python.with_name("langgraph"), *serve]
    settings = {"LANGGRAPH_CLI_NO_ANALYTICS": "1"}
    with _started("langgraph", command, folder=folder, settings=settings, probe=f"http://127.0.0.1:{port}/ok") as up:
        yield up


def _guarded(folder: Path) -> str:
    """An operator's own auth file with the guard beside it; where it is, from `folder`."""
    (folder / "own").mkdir()
    shutil.copy(ROOT / "bot" / "deploy" / "auth_guard.py", folder / "own")
    called = f"\n\nfrom auth_guard import guard\n\nguard(auth, table={str(folder / 'seen.sqlite3')!r})\n"
    (folder / "own" / "auth.py").write_text((_GRAPHS / "auth.py").read_text() + called)
    return "./own/auth.py:auth"


def _write_config(path: Path, *, auth: str = AUTH, newest: bool = True) -> Path:
    """Both servers read one format. Paths in it are relative to the folder, which is why the graphs are linked in."""
    (path.parent / "graphs").symlink_to(_GRAPHS)
    patterns = (*PATTERNS, ASKS_THRICE, *PER_CALL * newest)
    graphs = {name: f"./graphs/agents.py:{name}" for name in ASSISTANTS * newest}
    graphs |= {name: f"./graphs/patterns.py:{name}" for name in patterns}
    folders = ["./graphs", *(["./own"] if auth != AUTH else [])]
    config = {"dependencies": folders, "graphs": graphs, "auth": {"path": auth}}
    path.write_text(json.dumps(config))
    return path


@contextlib.contextmanager
def _started(
    kind: str, command: list[str | Path], *, folder: Path, settings: Mapping[str, str], probe: str
) -> Iterator[LiveServer]:
    effects_file, log = folder / "effects.jsonl", folder / f"{kind}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=_environment(effects_file, settings),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    url = probe.rpartition("/")[0]
    server = LiveServer(kind=kind, url=url, effects_file=effects_file, log=log, process=process)
    try:
        _wait_until_answering(server, probe)
        yield server
    finally:
        server.stop()


def _environment(effects_file: Path, settings: Mapping[str, str]) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    quiet = {"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false", "PYTHONUNBUFFERED": "1"}
    return {**kept, **quiet, "PYTHONPATH": str(ROOT), "EFFECTS_FILE": str(effects_file), **settings}


def _wait_until_answering(server: LiveServer, probe: str) -> None:
    deadline = time.monotonic() + 90
    while not _answers(probe):
        if server.process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{server.kind} did not start:\n{server.log.read_text()[-4000:]}")
        time.sleep(0.1)  # paces the asking; the condition is the answer


def _answers(probe: str) -> bool:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(probe, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
