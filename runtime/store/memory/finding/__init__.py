"""Ways to find memories and messages: by words, by vectors, and in what was said."""
