"""MCP servers as real processes, over the official SDK."""
