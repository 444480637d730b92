"""Copies of conversations, as files that another Signalbox reads. Pure."""
