"""A login page and a person at a terminal, whose browser may be on another machine."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from bot.terminal.output import clean, tell

if TYPE_CHECKING:
    from tools.mcp.oauth.browser import Callback


def show_login_page(address: str) -> None:
    tell("Open this page in a browser, and log in:")
    typer.echo(f"\n  {clean(address)}\n")
    if sys.stdin.isatty():
        tell("If the browser can't come back to this machine, paste the address where it ended here.")


def listen_for_address(callback: Callback) -> None:
    """Take an address that somebody types, where a person is at this terminal."""
    if not sys.stdin.isatty():
        return
    loop = asyncio.get_running_loop()

    def typed() -> None:
        line = sys.stdin.readline()
        if not line:
            loop.remove_reader(sys.stdin.fileno())
        elif line.strip():
            try:
                tell(callback.take(line))
            except ValueError as error:
                tell(f"{error}.".capitalize())

    with suppress(OSError, ValueError):  # a terminal that can't be waited for
        loop.add_reader(sys.stdin.fileno(), typed)
