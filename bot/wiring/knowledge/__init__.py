"""What agents know beside conversations, made from settings."""
