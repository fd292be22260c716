"""What Slack sends: buttons, submitted windows, commands, events."""
