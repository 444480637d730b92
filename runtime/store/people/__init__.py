"""Transactions of people and their identities."""
