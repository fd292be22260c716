"""A validator of messages and views that is as strict as Slack is known to be, and stricter where Slack does not say.

Pure: it takes JSON and returns problems in Slack's shape. Its figures are its own table (`limits`), shared with nobody, so
that one wrong number cannot pass on both sides. Blocks and elements that this workspace does not model are refused.
"""

from bot.sandbox.slack.blockkit.messages import problems_in_message
from bot.sandbox.slack.blockkit.problem import Problem
from bot.sandbox.slack.blockkit.views import problems_in_view

__all__ = ["Problem", "problems_in_message", "problems_in_view"]
