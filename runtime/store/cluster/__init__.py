"""Transactions of nodes, roles and due work."""
