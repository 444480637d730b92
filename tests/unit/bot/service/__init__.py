"""Signalbox in the background."""
