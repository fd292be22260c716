"""`python -m tests.live.record`: hold every scenario with the real servers and keep their answers as test data.

Ids, times and addresses are replaced by counting ones, so that recording again changes a file only where a server's
shape has changed.
"""

import asyncio
import json
import re
import tempfile
from collections import defaultdict
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from tests.kit.postgres import running_postgres
from tests.live.pythons import ROOT
from tests.live.scenarios import SCENARIOS
from tests.live.servers import LiveServer, aegra_server, langgraph_server

DATA = ROOT / "tests" / "data" / "agent"
_PATTERNS = {
    "uuid": (
        re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        "{:08x}-0000-4000-8000-{:012x}",
    ),
    "hex": (re.compile(r"\b[0-9a-f]{32}\b"), "{:016x}{:016x}"),
    "call": (re.compile(r"\bcall_[0-9a-f]{16}\b"), "call_{:08x}{:08x}"),
    "time": (re.compile(r"20\d\d-\d\d-\d\dT[\d:.]+(?=Z|\+00:00)"), "2026-01-01T00:00:{1:09.6f}"),
    "address": (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:2026"),
    "epoch": (re.compile(r'(?<="__request_start_time_ms__": )\d+'), "1767225600000"),
}


def redacted(document: Any) -> Any:
    """The same document with counting ids; equal ids stay equal."""
    text = json.dumps(document)
    for pattern, form in _PATTERNS.values():
        seen: defaultdict[str, int] = defaultdict(count(1).__next__)
        text = pattern.sub(partial(_counted, form, seen), text)
    return json.loads(text)


def _counted(form: str, seen: "defaultdict[str, int]", found: "re.Match[str]") -> str:
    return form.format(0, seen[found.group()])


async def record(server: LiveServer) -> None:
    async with httpx.AsyncClient(base_url=server.url, headers={"X-User-Id": "approvals"}, timeout=60) as client:
        for name, scenario in SCENARIOS.items():
            document = redacted(await scenario(client))
            for run in document["runs"]:
                run.pop("kwargs", None)  # a dump of the server's insides, request headers included
            path = DATA / f"{server.kind}-{name}.json"
            path.write_text(json.dumps(document, indent=1) + "\n")
            print(path.relative_to(ROOT))


def main() -> None:
    DATA.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        folders = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)]
        postgres = stack.enter_context(running_postgres(folders[0]))
        asyncio.run(record(stack.enter_context(aegra_server(folders[0], postgres))))
        asyncio.run(record(stack.enter_context(langgraph_server(folders[1]))))


if __name__ == "__main__":
    main()
