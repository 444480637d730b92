"""Attacks of pages on whatever lies behind the browser, and of the machine on it."""
