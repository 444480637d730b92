"""OAuth as a client of an issuer that the settings name: signing in, renewing a token, giving it back.

`grant` is what a sign-in gave, `issuer` finds the issuer's addresses, `client` asks it. MCP servers bring a client of their
own, the SDK's, in `tools/mcp/oauth`.
"""
