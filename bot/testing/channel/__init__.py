"""A chat platform of its own process, its adapter, and the hand of a test on it."""
