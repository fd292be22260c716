"""Logging: one sentence and a machine-readable `action` per line, as text or JSON, on standard error.

Slack's libraries stay at WARNING whatever is asked for: at DEBUG they print payloads, and an invalid signature prints the
body. Arguments, reasons and tokens are never logged at any level.
"""

from __future__ import annotations

import logging
import sys

import structlog

QUIET = (
    "slack_bolt",
    "slack_sdk",
    "httpx",
    "httpcore",
    "aiohttp",
    "uvicorn.access",
    "asyncio",
    "alembic",
    "sqlalchemy",
    "aiosqlite",  # at DEBUG it prints every value that is stored
    "asyncpg",
    "python_multipart",
)


def configure(log_format: str, *, level: int = logging.INFO) -> None:
    """Set up both logging worlds once, at start."""
    renderer = (
        structlog.processors.JSONRenderer() if log_format == "json" else structlog.dev.ConsoleRenderer(colors=False)
    )
    shared: list[structlog.types.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    remove = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processors=[remove, renderer], foreign_pre_chain=shared))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
