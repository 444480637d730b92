"""Commands about secrets and the leak guard."""
