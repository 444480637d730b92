"""Messages on their way to Slack."""
