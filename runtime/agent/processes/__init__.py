"""Processes that agents start: what the store keeps of them."""
