"""Logins at MCP servers, and calls that wait: sealed with the key of the data folder."""
