"""Builds the parts of memory from settings."""
