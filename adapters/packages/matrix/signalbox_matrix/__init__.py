"""Matrix as a channel."""
