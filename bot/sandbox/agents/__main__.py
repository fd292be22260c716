"""Serves the agent server in a process of its own, one that a chaos test can stop or kill."""

import argparse
import sys
from pathlib import Path

import uvicorn

from bot.sandbox.agents.app import create_app
from bot.sandbox.agents.kinds import KINDS
from bot.sandbox.serving import listen


def main() -> None:
    """Print the base URL on one line once the port is held, then serve until a signal."""
    parser = argparse.ArgumentParser(prog="python -m bot.sandbox.agents", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--effects", type=Path, required=True)
    parser.add_argument("--kind", choices=sorted(KINDS), default="langgraph")
    parser.add_argument("--api-key")
    given = parser.parse_args()
    app = create_app(database=given.database, effects_file=given.effects, kind=given.kind, api_key=given.api_key)
    sock = listen(given.port)
    sys.stdout.write(f"http://127.0.0.1:{sock.getsockname()[1]}\n")
    sys.stdout.flush()
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[sock])


if __name__ == "__main__":
    main()
