"""Commands for MCP servers."""
