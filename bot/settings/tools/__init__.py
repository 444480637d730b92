"""Settings of tools that need services."""
