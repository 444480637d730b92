"""What a login or a waiting call at an MCP server leaves behind: sealed with the key of the data folder."""
