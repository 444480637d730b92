"""The Matrix channel on a real homeserver: what only this platform has."""
