"""The real program, seen as its people and its operator see it."""
