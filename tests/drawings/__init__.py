"""Pictures of messages as Slack, Telegram and Discord would show them, drawn from what the adapters send there."""
