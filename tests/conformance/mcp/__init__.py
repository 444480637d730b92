"""The conformance suite of MCP against our server: a server with the tools that it asks for, and the product itself."""
