"""Tools of MCP servers: programs of the team's own that tell which tools they have and carry out the calls.

`terms` is what the settings say of a server, `offers` what it says of its tools, `server` keeps it at work. Only
`connection`, `stdio`, `http`, `flood` and `results` know the official SDK, which takes half a second to load: `server`
loads it in a thread once it is needed.
"""
