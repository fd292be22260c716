"""Every file that docs/ARCHITECTURE.md names is there, and every folder of `bot` is on its map."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`((?:bot|blocks|tests)/[a-z_/.]+)`", TEXT))


def test_every_file_that_the_architecture_names_is_there():
    assert {path for path in NAMED if not (ROOT / path).exists()} == set()


def test_every_folder_of_the_bot_is_on_the_map():
    folders = {
        one.relative_to(ROOT).as_posix()
        for one in (ROOT / "bot").iterdir()
        if one.is_dir() and (one / "__init__.py").exists()
    }
    assert {one for one in folders if not any(path.startswith(one) for path in NAMED)} == set()


def test_links_between_documents_lead_somewhere():
    documents = sorted((ROOT / "docs").glob("*.md"))
    links = {
        (page.name, link) for page in documents for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8"))
    }
    assert {(page, link) for page, link in links if not (ROOT / "docs" / link).exists()} == set()
