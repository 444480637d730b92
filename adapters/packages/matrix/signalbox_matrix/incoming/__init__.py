"""Matrix's events on their way in."""
