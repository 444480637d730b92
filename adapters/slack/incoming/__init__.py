"""Slack's events on their way in."""
