"""Telegram's updates on their way in."""
