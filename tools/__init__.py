"""What the agent may call: one module a family, `catalogue` for the list."""
