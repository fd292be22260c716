"""One thing that Slack would refuse, and how its answers put it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """`error` is the answer's code; `pointer` is a JSON pointer, none where the whole payload is at fault."""

    error: str
    pointer: str | None
    message: str

    @property
    def line(self) -> str:
        """The line that Slack puts into `response_metadata.messages`."""
        return f"[ERROR] {self.message}" + (f" [json-pointer:{self.pointer}]" if self.pointer is not None else "")
