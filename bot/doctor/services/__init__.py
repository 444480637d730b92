"""Checks of what is reached over the network."""
