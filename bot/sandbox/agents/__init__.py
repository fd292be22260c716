"""A local agent server: real LangGraph, the real human-in-the-loop middleware, a scripted model, pretend tools.

It speaks the part of the agent servers' HTTP interface that an approvals client uses, in the shapes that LangGraph's
development server and Aegra were seen to answer with, so that the demo and most tests need neither. It imports nothing
of the bot: what one side gets wrong the other must not share.
"""
