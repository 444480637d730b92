"""Notifications in people's browsers: what waits for them, while they don't look at the page."""
