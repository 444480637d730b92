"""Endings of a connection to an MCP server."""

from __future__ import annotations


class Lost(Exception):
    """No answer came that tells what became of a call. The text says why, as a clause."""


class NoServer(Exception):
    """It cannot be started or reached. The text says why, as a clause."""


class NoLogin(NoServer):
    """Only a person's login helps. The text says how, as a clause."""
