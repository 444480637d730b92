"""Questions to databases that operators name, by their own means read-only."""
