"""One call of a Web API method: its arguments, and the record that says what a method needs."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bot.sandbox.slack.errors import ApiError
from bot.sandbox.slack.records import AppInstallation, Json
from bot.sandbox.slack.world import World

TRUE = frozenset({"true", "1", "True"})


@dataclass(frozen=True, slots=True)
class ApiCall:
    """Arguments as they came: strings from a form, any JSON from a JSON body."""

    world: World
    installation: AppInstallation
    args: Json

    def required(self, name: str) -> str:
        """Return an argument that must be there."""
        value = self.args.get(name)
        if value is None or value == "":
            message = f"[ERROR] missing required field: {name} [json-pointer:]"
            raise ApiError("invalid_arguments", messages=[message])
        return str(value)

    def string(self, name: str) -> str | None:
        """Return an argument as a string; an empty one counts as left out."""
        value = self.args.get(name)
        return None if value is None or value == "" else str(value)

    def flag(self, name: str) -> bool:
        value = self.args.get(name, False)
        return value if isinstance(value, bool) else str(value) in TRUE

    def number(self, name: str, default: int) -> int:
        """Return a whole number; raises the API's error for anything else."""
        try:
            return int(self.args.get(name, default))
        except (TypeError, ValueError):
            message = f"[ERROR] must be an integer [json-pointer:/{name}]"
            raise ApiError("invalid_arguments", messages=[message]) from None

    def structure(self, name: str, error: str) -> Any:
        """Return JSON, given as such or as a string; None where it is left out."""
        value = self.args.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value) if value else None
        except ValueError:
            raise ApiError(error) from None


@dataclass(frozen=True, slots=True)
class Method:
    """What a method does and needs: any one of `scopes`, calls a minute by `tier` (0: unlimited), which kind of token."""

    run: Callable[[ApiCall], Json]
    scopes: tuple[str, ...] = ()
    tier: int = 0
    token: str = field(default="bot")
