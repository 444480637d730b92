"""`[programs]`: what programs with tokens may do beyond what their tokens say."""

from __future__ import annotations

from pydantic import Field

from runtime.settings.types import Section


class ProgramsSection(Section):
    """Programs that speak through tokens. See [api.md](api.md)."""

    decide_over_mcp: bool = Field(
        default=False,
        description="Tokens of operators may answer approvals through the MCP server, where a model may be the one who "
        "decides. See [mcp-server.md](mcp-server.md).",
    )
