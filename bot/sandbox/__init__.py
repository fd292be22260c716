"""Local stand-ins for the services on either side of Placet: a strict Slack workspace and an agent server.

The demo and the tests run against them. They import nothing of the bot that they judge, so that one wrong idea of Slack or
of the agent protocol cannot pass on both sides.
"""
