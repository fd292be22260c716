"""How likely each fault is on each wire, and how long the settle time is that bounds them."""

from __future__ import annotations

from tests.chaos.wire import Fault, Odds, Sent

SETTLE_S = 2.0
WITHIN_S = 0.6 * SETTLE_S  # what outlives its sender arrives within this

RESUMES: Odds = {
    Fault.DROP_BEFORE: 0.12,
    Fault.DROP_AFTER: 0.08,
    Fault.CUT: 0.05,
    Fault.HALF: 0.08,
    Fault.SLOW: 0.06,
    Fault.LATE: 0.12,
    Fault.BAD_GATEWAY: 0.05,
    Fault.GATEWAY_TIMEOUT: 0.04,
}
READS: Odds = {Fault.DROP_BEFORE: 0.02, Fault.CUT: 0.01, Fault.SLOW: 0.02, Fault.BAD_GATEWAY: 0.01}
CALLS: Odds = {
    Fault.DROP_BEFORE: 0.03,
    Fault.DROP_AFTER: 0.03,
    Fault.CUT: 0.02,
    Fault.SLOW: 0.04,
    Fault.BAD_GATEWAY: 0.02,
}
DELIVERIES: Odds = {
    Fault.DROP_BEFORE: 0.06,
    Fault.DROP_AFTER: 0.06,
    Fault.CUT: 0.02,
    Fault.SLOW: 0.06,
    Fault.LATE: 0.04,
    Fault.BAD_GATEWAY: 0.02,
}


def at_agent(sent: Sent) -> Odds:
    """Answers to interrupts fare far worse than reads: they are what this is about."""
    return RESUMES if sent.resumes else READS
