"""The policy file: text in, a `Policy` or all of its problems out.

Reading touches nothing outside: no file, no environment, no network, so whether ids exist or variables are set is
asked elsewhere. This module is the only one that others import to read YAML.
"""

from __future__ import annotations

from collections.abc import Iterable

import yaml

from bot.policy.lint import blame_conflicts
from bot.policy.model import Policy
from bot.policy.nodes import PolicyError, PolicyNode, compose
from bot.policy.reading import read_policy


def parse(text: str) -> Policy:
    """Read a policy file. Raises `PolicyError`, which holds every problem with its line and column."""
    root = compose(text)
    policy = read_policy(root)
    if not root.faults:
        blame_conflicts(policy, root)
    if root.faults:
        raise PolicyError(root.faults)
    return policy


def locate(text: str, path: str) -> tuple[int, int]:
    """Line and column (1-based) of a path such as `tenants.acme.reviewers[2]`, or of its nearest parent."""
    place = compose(text)
    while below := [each for each in _members(place) if _within(path, each.path)]:
        # Tool names may hold dots, so of several that fit the longest is meant.
        place = max(below, key=lambda each: len(each.path))
    return place.key.line + 1, place.key.column + 1


def _members(place: PolicyNode) -> Iterable[PolicyNode]:
    if isinstance(place.node, yaml.MappingNode):
        return place.entries().values()
    return place.items() if isinstance(place.node, yaml.SequenceNode) else ()


def _within(path: str, parent: str) -> bool:
    return path == parent or path.startswith((f"{parent}.", f"{parent}["))
