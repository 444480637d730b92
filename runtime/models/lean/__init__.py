"""LiteLLM with what our calls need of it: other vendors' parts, types and the price list come when they are used."""
