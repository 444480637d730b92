"""Parts that keep people and secrets safe, made of settings."""
