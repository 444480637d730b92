"""Discord's events on their way in."""
