"""The counters that an operator scrapes. Labels hold our own words only: never ids, names or arguments."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY = CollectorRegistry()

LOOP_FAILURES = Counter("placet_loop_failures", "Failed rounds of a background loop.", ["loop"], registry=REGISTRY)
DECISIONS = Counter("placet_decisions", "Recorded decisions.", ["type"], registry=REGISTRY)
REFUSALS = Counter("placet_refusals", "Refused presses.", ["reason"], registry=REGISTRY)
DISPATCHES = Counter("placet_dispatches", "Ended dispatches.", ["result"], registry=REGISTRY)
ALARMS = Counter("placet_alarms", "Alarms that a person must look at.", ["kind"], registry=REGISTRY)
SLACK_CALLS = Counter("placet_slack_calls", "Calls of Slack's Web API.", ["method", "result"], registry=REGISTRY)
AGENT_READS = Counter("placet_agent_reads", "Threads read from agent servers.", ["tenant"], registry=REGISTRY)
AGENT_READ_FAILURES = Counter(
    "placet_agent_read_failures", "Readings of single threads that failed.", ["tenant"], registry=REGISTRY
)
UNREADABLE_THREADS = Gauge(
    "placet_unreadable_threads", "Threads whose state cannot be read.", ["tenant"], registry=REGISTRY
)
OPEN_REVIEWS = Gauge("placet_open_reviews", "Reviews that wait for people.", ["tenant"], registry=REGISTRY)
DECIDE_SECONDS = Histogram("placet_decide_seconds", "From a parsed press to its commit.", registry=REGISTRY)
