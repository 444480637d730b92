"""Tables of the engine: what came in, the work on it, and what is shown of it."""
