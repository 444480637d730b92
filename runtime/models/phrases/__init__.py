"""Phrases of the demo model about one subject each."""
