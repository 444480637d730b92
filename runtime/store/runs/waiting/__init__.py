"""Waits of parked runs: for people, for children, for a time."""
