"""Settings of what agents know beside conversations."""
