"""The runs that the page offers to start, under plain labels, and in which order `Propose another` takes them."""

from dataclasses import dataclass

from bot.sandbox.agents.presets import PRESETS


@dataclass(frozen=True, slots=True)
class MenuOffer:
    """A preset of the agent's, and what it will do in a person's words."""

    preset: str
    label: str


TELLING = (
    MenuOffer("one", "Disable a user"),
    MenuOffer("refund", "Refund an order"),
    MenuOffer("three", "Three calls together"),
    MenuOffer("ask", "A question to a person"),
    MenuOffer("high-risk", "Long, high-risk SQL"),
    MenuOffer("parallel", "Two pauses at once"),
    MenuOffer("thirty", "Thirty calls together"),
    MenuOffer("hostile", "Text that attacks its reader"),
    MenuOffer("boom", "A tool that fails"),
)
OTHERS = tuple(sorted(set(PRESETS) - {offer.preset for offer in TELLING}))
