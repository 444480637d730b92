"""Workflows in the store: begun by a command, and looked up with how far they are."""
