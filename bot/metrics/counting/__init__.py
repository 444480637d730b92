"""Metrics counted by what transactions return."""
