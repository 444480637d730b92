"""Transactions of triggers."""
