"""Conversations as people keep them on the page: named, pinned, put away, and searched."""
