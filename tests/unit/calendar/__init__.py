"""When something is due."""
