"""Transactions of the outbox."""
