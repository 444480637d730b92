"""What engine rooms know of memories and knowledge in the store."""
