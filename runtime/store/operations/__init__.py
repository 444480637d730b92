"""Transactions of operators: look-ups, figures, audit, retention, restore."""
