"""The rules about tool calls as settings."""
