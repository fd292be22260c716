"""Slack's Web API, installations, people and user groups."""
