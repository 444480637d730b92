"""Two SQL engines behind one way to write a transaction."""
