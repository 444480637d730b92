"""Transactions of people who are forgotten, and of what is known of one."""
