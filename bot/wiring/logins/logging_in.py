"""A login at an MCP server by a person in front of a terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from bot.settings.mcp import McpTable
from bot.settings.settings import Settings
from bot.wiring.logins.grants import GrantInHand, login_of
from bot.wiring.mcp import terms_of
from runtime.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from tools.mcp.oauth.browser import Callback
    from tools.mcp.oauth.grants import Grant

LOGIN_TIME: Final = timedelta(minutes=10)


async def log_in(
    settings: Settings, table: McpTable, *, show: Callable[[str], None], listen: Callable[[Callback], None]
) -> Grant | None:
    """The grant that a person's login gave, for the caller to keep; None where the server wants no login.

    `show` gets the address of the login page; `listen` is for somebody who types where their browser ended.
    Errors: ConfigError; StoreError where it didn't come to a login.
    """
    from tools.mcp.errors import NoServer
    from tools.mcp.oauth.browser import asking, waiting
    from tools.mcp.server import opened
    from tools.mcp.terms import Endpoint

    hand = GrantInHand()
    terms = terms_of(settings, table, lambda _: hand)
    if not isinstance(terms.way, Endpoint) or terms.way.login is None:
        raise ConfigError(
            f'[[mcp]] name = "{table.name}": it gets no login: it has no url, or a token of the settings.'
        )
    try:
        async with waiting(table.callback_port) as callback:
            listen(callback)
            login = login_of(table, hand, callback.address, asking(show, callback, LOGIN_TIME.total_seconds()))
            async with opened(replace(terms, way=replace(terms.way, login=login)), LOGIN_TIME):
                pass
    except NoServer as error:
        raise StoreError(f"{table.name}: {error}.") from error
    except OSError as error:
        raise StoreError(f"callback_port {table.callback_port} can't be used: {error.strerror}.") from error
    return hand.grant
