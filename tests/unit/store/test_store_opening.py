"""A database that cannot be used is refused with one line that names the mend."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from alembic.script import ScriptDirectory
from sqlalchemy import text

from bot.errors import StoreError
from bot.store.connection import read_address
from bot.store.engine import Store
from bot.store.upgrade import migrate, open_store
from tests.kit.postgres import free_port


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "placet.db"


def _write(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def _remove(file: Path) -> None:
    file.unlink()


def _read(file: Path) -> bytes:
    return file.read_bytes()


def _modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}


def _damage(file: Path, start: int, end: int | None, content: bytes = b"") -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[:start] + content + (b"" if end is None else whole[end:]))


@contextmanager
def _held_elsewhere(file: Path) -> Iterator[None]:
    """Another process holds the file's lock, as a serving one does."""
    script = "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); print(flush=True); input()"
    command = [sys.executable, "-S", "-c", script, f"{file}.lock"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        yield
        other.communicate(b"\n")


async def _refusal(url: str, *, exclusive: bool = False) -> str:
    with pytest.raises(StoreError) as caught:
        await open_store(url, exclusive=exclusive)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.asyncio
async def test_serving_makes_the_file_for_its_owner_alone(file: Path) -> None:
    store = await open_store(f"sqlite:///{file}", exclusive=True)
    async with store.begin() as tx:
        await tx.conn.execute(text("INSERT INTO tenants (name) VALUES ('acme')"))

    modes = _modes(file.parent)
    await store.close()
    assert modes == dict.fromkeys(["placet.db", "placet.db-wal", "placet.db-shm", "placet.db.lock"], 0o600)


@pytest.mark.asyncio
@pytest.mark.parametrize("exclusive", [True, False])
async def test_a_missing_folder_is_named(tmp_path: Path, exclusive: bool) -> None:
    assert "does not exist: create it" in await _refusal(f"sqlite:///{tmp_path}/no/placet.db", exclusive=exclusive)


@pytest.mark.asyncio
async def test_a_missing_file_is_not_made_by_a_command_that_reads(file: Path) -> None:
    assert "run `placet migrate`" in await _refusal(f"sqlite:///{file}")
    assert _modes(file.parent) == {}


@pytest.mark.asyncio
@pytest.mark.parametrize("exclusive", [True, False])
@pytest.mark.parametrize("content", [b"", b"not a database, but long enough to hold a header" * 9])
async def test_a_file_that_is_no_database_is_left_alone(file: Path, exclusive: bool, content: bytes) -> None:
    _write(file, content)

    assert "is not a SQLite database" in await _refusal(f"sqlite:///{file}", exclusive=exclusive)
    assert _read(file) == content


@pytest.mark.asyncio
@pytest.mark.parametrize("exclusive", [True, False])
async def test_a_cut_file_is_refused(file: Path, exclusive: bool) -> None:
    await migrate(f"sqlite:///{file}")
    _damage(file, -5000, None)

    assert "is cut short: restore it" in await _refusal(f"sqlite:///{file}", exclusive=exclusive)


@pytest.mark.asyncio
async def test_a_damaged_first_page_is_refused(file: Path) -> None:
    await migrate(f"sqlite:///{file}")
    _damage(file, 100, 4096, b"\xff" * 3996)

    assert "malformed: restore it" in await _refusal(f"sqlite:///{file}")


@pytest.mark.asyncio
@pytest.mark.parametrize("exclusive", [True, False])
async def test_another_programs_sqlite_tables_are_refused(file: Path, exclusive: bool) -> None:
    with closing(sqlite3.connect(file)) as conn:
        conn.execute("CREATE TABLE alembic_version (version_num text)")

    assert "tables that are not Placet's" in await _refusal(f"sqlite:///{file}", exclusive=exclusive)


@pytest_asyncio.fixture
async def altered(own_database: None, url: str, request: pytest.FixtureRequest) -> str:
    """The database after one statement of the test's own."""
    store = await open_store(url)
    async with store.begin() as tx:
        await tx.conn.execute(text(request.param))
    await store.close()
    return url


@pytest.mark.asyncio
@pytest.mark.parametrize("altered", ["UPDATE placet_schema SET version_num = '9999'"], indirect=True)
async def test_a_schema_of_a_newer_placet_is_refused(altered: str) -> None:
    assert "newer Placet (9999): upgrade this one" in await _refusal(altered)
    with pytest.raises(StoreError, match="newer Placet"):
        await migrate(altered)


@pytest.mark.asyncio
async def test_a_schema_of_an_older_placet_asks_for_the_migration(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # There is one revision until the first release, so a later one is made up.
    monkeypatch.setattr(ScriptDirectory, "get_current_head", lambda scripts: "0002")

    assert "run `placet migrate`" in await _refusal(url)


@pytest.mark.asyncio
@pytest.mark.parametrize("altered", ["DELETE FROM placet_schema"], indirect=True)
async def test_tables_without_our_version_are_foreign(altered: str) -> None:
    assert "not Placet's: name an empty database" in await _refusal(altered)


@pytest.mark.asyncio
async def test_a_file_that_another_process_serves_from_is_refused(file: Path) -> None:
    with _held_elsewhere(file):
        said = await _refusal(f"sqlite:///{file}", exclusive=True)

    assert "in use by another placet process" in said


@pytest.mark.asyncio
async def test_a_held_file_cannot_be_migrated_and_can_be_served_after_release(file: Path) -> None:
    store = await open_store(f"sqlite:///{file}", exclusive=True)
    with pytest.raises(StoreError, match="stop that one first"):
        await migrate(f"sqlite:///{file}")
    await store.close()

    again = await open_store(f"sqlite:///{file}", exclusive=True)
    await again.close()


@pytest.mark.asyncio
async def test_a_second_root_in_one_process_shares_the_file(file: Path) -> None:
    first = await open_store(f"sqlite:///{file}", exclusive=True)
    second = await open_store(f"sqlite:///{file}")

    async with first.begin() as tx:
        await tx.conn.execute(text("INSERT INTO tenants (name) VALUES ('acme')"))
    async with second.read() as tx:
        assert await tx.conn.scalar(text("SELECT name FROM tenants")) == "acme"

    await second.close()
    await first.close()


@pytest.mark.asyncio
async def test_a_failed_start_frees_the_file(file: Path) -> None:
    _write(file, b"junk")
    await _refusal(f"sqlite:///{file}", exclusive=True)
    _remove(file)

    store = await open_store(f"sqlite:///{file}", exclusive=True)
    await store.close()


@pytest.mark.asyncio
@pytest.mark.parametrize("bad", ["mysql://a/b", "nonsense", "sqlite://", "sqlite:///:memory:"])
async def test_other_urls_are_refused(bad: str) -> None:
    assert "PLACET_DATABASE_URL" in await _refusal(bad)


def test_libpqs_name_for_tls_is_the_drivers() -> None:
    address = read_address("postgres://placet:hunter2@db.example/placet?sslmode=require")

    assert dict(address.url.query) == {"ssl": "require"}
    assert address.label == "PostgreSQL at db.example/placet"


@pytest.mark.asyncio
async def test_an_unreachable_server_is_named_without_its_password() -> None:
    url = f"postgresql://placet:hunter2@127.0.0.1:{free_port()}/placet"

    said = await _refusal(url)

    assert said.startswith("PostgreSQL at 127.0.0.1:")
    assert "cannot be reached" in said
    assert "hunter2" not in said
    with pytest.raises(StoreError, match="cannot be reached"):
        await migrate(url)


@pytest.mark.asyncio
@pytest.mark.parametrize("engine", ["postgresql"])
async def test_a_database_that_does_not_exist_is_said(url: str) -> None:
    missing = f"{url}_missing"

    assert "does not exist" in await _refusal(missing)
    with pytest.raises(StoreError, match="does not exist"):
        await migrate(missing)


@pytest.mark.asyncio
async def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)

    assert "pip install 'placet[postgres]'" in await _refusal("postgresql://127.0.0.1/placet")


@pytest.mark.asyncio
async def test_the_stores_clock_moves_by_its_offset(store: Store) -> None:
    before = await store.now()

    store.offset_ms = 3_600_000

    assert 3_600_000 <= await store.now() - before < 3_660_000
