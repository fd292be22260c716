"""Pinned dependencies: every package that Placet runs on, at one version, without an address.

The file is made from an environment in which all tests pass: set `PLACET_UPDATE_SNAPSHOTS` and run this.
"""

from __future__ import annotations

import os
import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
FILE = ROOT / ".constraints.txt"
PIN = re.compile(r"([a-z0-9][a-z0-9-]*)==([0-9][0-9A-Za-z.+!]*)")
HEAD = "# Versions that the tests passed with: pip install -c .constraints.txt '.[postgres]'. Made by tests/test_constraints.py.\n"


def asked() -> list[Requirement]:
    """What the project asks for itself, extras included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    return [Requirement(one) for one in [*project["dependencies"], *(one for each in extras for one in each)]]


def needed() -> dict[str, str]:
    """Every package below those, with the version that is installed here."""
    found, waiting = {}, asked()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        try:
            here = distribution(name)
        except PackageNotFoundError:
            continue  # for another platform
        if (name, frozenset(wanted.extras)) in found:
            continue
        found[name, frozenset(wanted.extras)] = here.version
        waiting += [one for one in map(Requirement, here.requires or []) if _applies(one, wanted.extras)]
    return {name: version for (name, _), version in found.items()}


def _applies(one, extras):
    return one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras))


def pinned() -> dict[str, str]:
    """The pins in the file; every other line is a comment."""
    lines = [line for line in FILE.read_text().splitlines() if not line.startswith("#")]
    assert [line for line in lines if not PIN.fullmatch(line)] == []
    return {found[1]: found[2] for found in map(PIN.fullmatch, lines)}


def test_everything_that_placet_runs_on_is_pinned():
    here = needed()
    if os.environ.get("PLACET_UPDATE_SNAPSHOTS"):
        FILE.write_text(HEAD + "".join(f"{name}=={version}\n" for name, version in sorted(here.items())))

    assert sorted(here.keys() - pinned().keys()) == []


def test_the_pins_are_within_what_the_project_asks_for():
    pins = pinned()

    asked_for = {canonicalize_name(one.name): one.specifier for one in asked()}
    assert {name: pins[name] for name, range_ in asked_for.items() if Version(pins[name]) not in range_} == {}
