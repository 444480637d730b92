"""Commands, cards and other words of a chat. Pure."""
