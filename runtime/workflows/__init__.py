"""Workflows at work: what speaks in place of the model, and the definitions that there are."""
