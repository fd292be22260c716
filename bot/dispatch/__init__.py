"""Decided reviews on their way to the agent: claim, re-check, attempt, follow-up."""
