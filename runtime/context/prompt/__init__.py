"""The prompt of a room: what is so there, what waits, and how it is told."""
