"""The runs that the page offers to start, under plain labels, and in which order `Propose another` takes them."""

from dataclasses import dataclass

from bot.sandbox.agents.presets import PRESETS


@dataclass(frozen=True, slots=True)
class Offer:
    """A preset of the agent's, and what it will do in a person's words."""

    preset: str
    label: str


TELLING = (
    Offer("one", "Disable a user"),
    Offer("refund", "Refund an order"),
    Offer("three", "Three calls together"),
    Offer("ask", "A question to a person"),
    Offer("high-risk", "Long, high-risk SQL"),
    Offer("parallel", "Two pauses at once"),
    Offer("thirty", "Thirty calls together"),
    Offer("hostile", "Text that attacks its reader"),
    Offer("boom", "A tool that fails"),
)
OTHERS = tuple(sorted(set(PRESETS) - {offer.preset for offer in TELLING}))
