"""Discord: one bot, by discord.py."""
