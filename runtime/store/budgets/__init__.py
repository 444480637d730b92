"""Budgets: their counters, and what is held back of them for calls under way."""
