"""Slack: the adapter with slack-bolt and slack-sdk over the fake Slack."""
