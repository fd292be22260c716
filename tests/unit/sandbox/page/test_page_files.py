import re
from pathlib import Path

import pytest

from bot.sandbox.page import routes

FOLDER = Path(routes.__file__).parent
FILES = sorted(file for kind in ("css", "js", "html", "svg") for file in FOLDER.rglob(f"*.{kind}"))


@pytest.mark.parametrize("file", FILES)
def test_no_file_of_the_page_names_another_server(file):
    found = re.findall(r"(?:src|href|url|import|fetch)\W{1,3}(?:https?:)?//", file.read_text(encoding="utf-8"))

    assert found == []


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.js")))
def test_no_script_turns_text_into_markup_or_code(file):
    script = file.read_text(encoding="utf-8")

    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", script)
