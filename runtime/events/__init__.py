"""Events on their way out, and ratings on their way in."""
