"""Transactions of approvals: decisions, rulings, newcomers."""
