"""Files for an operator's own deployments; nothing of the bot imports them, and they import nothing of the bot."""
