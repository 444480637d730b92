"""A hostile MCP server, by what it does."""
