"""Transactions of skills: which form of each an owner accepted, and who used one."""
