"""Pages of work of several steps."""
