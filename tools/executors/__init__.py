"""Programs and files that work in place of an agent's language model, or of its tools."""
