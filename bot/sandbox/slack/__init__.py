"""A strict local Slack workspace: Web API, interactions, events and both transports, in memory, on the loopback.

It exists so that tests and the demo meet a Slack that refuses what the real one refuses. It must know nothing of the bot:
its figures and shapes are its own.
"""
