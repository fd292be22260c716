"""SQLite's file, seen from outside: does it exist, is it whole, who holds it.

A damaged file must stop the start with one clear line, before anything could be resumed from half of the truth. This
module never reads what is stored.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from bot.errors import StoreError

MAGIC = b"SQLite format 3\x00"
OWNER_ONLY = 0o600


class FileLock:
    """The right of one process to serve from a file; the system frees it when the process dies."""

    def __init__(self, database: Path) -> None:
        """Raises `StoreError` if another holder has it."""
        require_folder(database)
        path = database.with_name(f"{database.name}.lock")
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT, OWNER_ONLY)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as exc:
            os.close(self._handle)
            raise StoreError(f"{database} is in use by another placet process: stop that one first") from exc

    def release(self) -> None:
        os.close(self._handle)


def require_folder(path: Path) -> None:
    """Raises `StoreError` if the folder is missing or cannot be written."""
    if not path.parent.is_dir():
        raise StoreError(f"the folder {path.parent} does not exist: create it, or correct PLACET_DATABASE_URL")
    if not os.access(path.parent, os.W_OK):
        raise StoreError(f"the folder {path.parent} cannot be written: SQLite keeps files beside {path.name}")


def create(path: Path) -> None:
    """Make the file for its owner alone; SQLite gives the files beside it the same mode."""
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("VACUUM")
    path.chmod(OWNER_ONLY)


def require_whole(path: Path) -> None:
    """Raises `StoreError` for a missing, foreign or cut file.

    The length is checked only while no write-ahead log is pending: after a crash the log may hold the missing pages.
    Format: https://www.sqlite.org/fileformat2.html, offsets 16 and 28.
    """
    require_folder(path)
    if not path.is_file():
        raise StoreError(f"there is no database at {path}: run `placet migrate`, or correct PLACET_DATABASE_URL")
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as exc:
        raise StoreError(f"{path} cannot be read: {exc.strerror}") from exc
    if not header.startswith(MAGIC):
        raise StoreError(f"{path} is not a SQLite database: restore it from a backup, or move it away")
    if not _log_pending(path) and path.stat().st_size < _length(header):
        raise StoreError(f"{path} is cut short: restore it from a backup")


def _length(header: bytes) -> int:
    page = int.from_bytes(header[16:18], "big")
    return (65536 if page == 1 else page) * int.from_bytes(header[28:32], "big")


def _log_pending(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0
