"""Models made of settings, and how they stand in for each other."""
