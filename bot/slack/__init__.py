"""Slack: listeners, private views, message sync, people."""
