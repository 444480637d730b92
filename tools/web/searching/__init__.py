"""Searching the web by services that operators name."""
