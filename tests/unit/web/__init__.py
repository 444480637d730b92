"""The web channel: its API over real sockets, its guard, its files."""
