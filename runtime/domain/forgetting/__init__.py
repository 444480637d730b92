"""Forgetting a person: what is theirs, and texts without them. Pure."""
