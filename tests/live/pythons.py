"""Python environments for the real agent servers: built once from pinned requirements, then reused.

They stand in `.servers/` at the project's root, apart from the project's own environment: Aegra needs a newer Python
than the bot does, and neither server's dependencies are the bot's business. An older LangChain gets an environment of
its own, with the newest of everything else that goes with it.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".servers"
_OLDER = {
    "aegra": ("aegra-api==0.11.0",),
    "langgraph": ("langgraph-cli[inmem]==0.4.40",),
}
LANGCHAINS = {
    "1.0": (
        "langchain==1.0.8",
        "langgraph-prebuilt==1.0.8",
    ),  # a later prebuilt needs a later langgraph than it asks for
    "1.3": ("langchain==1.3.18",),
    "1.5.1": ("langchain==1.5.1",),
}
_PATTERNS = ("deepagents", "langgraph-supervisor==0.0.31", "langgraph-swarm==0.1.0")


class NoPython(Exception):
    """No interpreter that is new enough is installed; the message says what was wanted."""


def environment(name: str, *, newer_than: tuple[int, int], langchain: str | None = None) -> Path:
    """The interpreter of an environment for one server; builds it the first time. Raises NoPython.

    It has what `requirements-NAME.txt` lists, or the server with one of `LANGCHAINS`.
    """
    CACHE.mkdir(exist_ok=True)
    requirements = Path(__file__).with_name(f"requirements-{name}.txt")
    if langchain is not None:
        requirements = CACHE / f"requirements-{name}-{langchain}.txt"
        requirements.write_text("\n".join([*_OLDER[name], *LANGCHAINS[langchain], *_PATTERNS]) + "\n")
        name = f"{name}-langchain-{langchain}"
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two test runs at once build it once
        base = find_python(newer_than)
        stamp = hashlib.sha256(requirements.read_bytes() + str(base).encode()).hexdigest()[:16]
        folder = CACHE / f"{name}-{stamp}"
        python = folder / "bin" / "python"
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            _build(base, folder, requirements)
            (folder / "complete").touch()
    return python


def _build(base: Path, folder: Path, requirements: Path) -> None:
    if uv := shutil.which("uv"):
        _run(uv, "venv", "--quiet", "--python", base, folder)
        _run(uv, "pip", "install", "--quiet", "--python", folder / "bin" / "python", "-r", requirements)
        return
    _run(base, "-m", "venv", folder)
    _run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "-r", requirements)


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd="/")
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{done.stderr[-3000:]}")


def find_python(newer_than: tuple[int, int]) -> Path:
    """An installed interpreter of that version or a later one: the running one, PATH's, pyenv's. Raises NoPython."""
    for candidate in _candidates(newer_than):
        if _is_new_enough(candidate, newer_than):
            return candidate
    wanted = ".".join(map(str, newer_than))
    raise NoPython(f"no Python >= {wanted} found; set PLACET_TEST_PYTHON to one")


def _candidates(newer_than: tuple[int, int]) -> Iterator[Path]:
    if chosen := os.environ.get("PLACET_TEST_PYTHON"):
        yield Path(chosen)
    yield Path(sys.base_prefix) / "bin" / "python3"
    for minor in range(newer_than[1], 20):
        if found := shutil.which(f"python3.{minor}"):
            yield Path(found)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob("versions/3.*/bin/python3"), key=_version)


def _version(python: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in python.parts[-3].split(".") if part.isdigit())


def _is_new_enough(python: Path, newer_than: tuple[int, int]) -> bool:
    # Running it is the only proof: a version manager's shim can be there for a version that is not.
    ask: list[str | Path] = [python, "-c", f"import sys; sys.exit(sys.version_info < {newer_than})"]
    try:
        return subprocess.run(ask, check=False, capture_output=True, timeout=30).returncode == 0
    except OSError:
        return False
