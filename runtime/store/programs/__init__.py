"""Transactions of programs: their tokens, and what became of what they said."""
