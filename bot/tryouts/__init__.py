"""Live trials of an account and of a model, before anything depends on them."""
