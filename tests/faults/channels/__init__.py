"""The real program on Slack, Telegram and Discord: real clients, and a server on the platform's wire as a process."""
