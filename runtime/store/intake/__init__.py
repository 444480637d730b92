"""Transactions of the way in."""
