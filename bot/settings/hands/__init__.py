"""Hands: an agent and the work it does by the clock, in one file each."""
