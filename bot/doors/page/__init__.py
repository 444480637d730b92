"""Doors as a person at the page uses them, and conversations as people keep them."""
