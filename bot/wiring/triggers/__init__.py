"""Triggers of the settings, brought into the store."""
