"""Memory as tools and runs use it."""
