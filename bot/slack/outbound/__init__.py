"""What Slack shows: messages, Home tabs and notices, kept equal to what is stored."""
