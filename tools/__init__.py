"""Tools for the agent: one module a family, `catalogue` for the list."""
