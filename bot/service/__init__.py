"""Signalbox in the background: a unit of the user's systemd, or a process of its own with a log."""
