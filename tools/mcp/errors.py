"""What becomes of a connection to an MCP server."""

from __future__ import annotations


class Lost(Exception):
    """The connection ended before an answer came. The text says why, as a clause."""


class NoServer(Exception):
    """It cannot be started or reached. The text says why, as a clause."""
