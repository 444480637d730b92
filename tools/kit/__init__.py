"""Parts that every tool is made of."""
