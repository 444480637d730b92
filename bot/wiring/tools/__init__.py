"""Tools that need services, made from settings."""
