"""Skills made of settings: their places, what each needs here, and the book that tools read."""
