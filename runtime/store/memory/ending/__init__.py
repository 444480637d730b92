"""Memories that end otherwise than by being forgotten: by their time, with their owner, and after a restore."""
