"""Statements of PostgreSQL, several in one round trip."""
