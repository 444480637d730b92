"""MCP server: agents as tools of other programs, over the same rooms and the same outbox as all doors."""
