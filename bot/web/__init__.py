"""The HTTP side: Slack endpoints, hints, health, metrics."""
