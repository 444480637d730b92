"""Triggers: what begins work when something happens. Pure."""
