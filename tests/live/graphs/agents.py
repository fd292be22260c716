"""The sandbox's assistants as a loose file, the way both real servers load graphs.

The effects file comes from the environment here, since the server's process is not ours to hand it to.
"""

import os
from pathlib import Path

from bot.sandbox.agents import effects
from bot.sandbox.agents.graphs import agent_platform, fanout, freeform, ops, ops_account, ops_per_call, ops_when

__all__ = ["agent_platform", "fanout", "freeform", "ops", "ops_account", "ops_per_call", "ops_when"]

effects.use_by_default(Path(os.environ["EFFECTS_FILE"]))
