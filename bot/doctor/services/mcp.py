"""MCP servers: each is started or reached once, and asked for its tools."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from bot.doctor.rows import SEALED_LOGINS, rows_of
from bot.doctor.subject import Subject, fine, warning
from bot.settings.mcp import McpTable
from bot.settings.settings import Settings
from bot.wiring.logins.grants import LookedAt
from bot.wiring.logins.parts import login_sealer_of
from bot.wiring.mcp import terms_of
from runtime.contract import Finding

if TYPE_CHECKING:
    from tools.mcp.terms import ServerTerms

REACH: Final = timedelta(seconds=15)
TOOLS_NAMED: Final = 10  # names of tools


async def check_mcp(subject: Subject) -> Sequence[Finding]:
    """All side by side: one that hangs must not make the others wait."""
    settings = subject.settings
    sealed: dict[str, str] = {}
    if any(table.url for table in settings.mcp):
        [rows] = await rows_of(settings, SEALED_LOGINS)
        sealed = {row[0]: row[1] for row in rows}
    sealer = login_sealer_of(settings)
    return await asyncio.gather(
        *(_look(settings, table, LookedAt(sealer, sealed, table.name)) for table in settings.mcp)
    )


async def _look(settings: Settings, table: McpTable, grants: LookedAt) -> Finding:
    ident = f"mcp.{table.name}"
    if not table.enabled:
        return fine(ident, "turned off: enabled is false")
    from tools.mcp.errors import NoLogin, NoServer
    from tools.mcp.offers import taken
    from tools.mcp.server import opened

    terms = terms_of(settings, table, lambda _: grants)
    try:
        async with opened(terms, REACH) as (connection, offers):
            kept, left_out = taken(offers, terms)
            revision = connection.revision
    except NoLogin as error:
        why = "The agent lacks its tools until somebody logs in; everything else works."
        return warning(ident, f"{terms.way}: {error}", why, f"signalbox mcp login {table.name}")
    except NoServer as error:
        why = "The agent lacks its tools; everything else works."
        return warning(ident, f"{terms.way}: {error}", why, f'check [[mcp]] name = "{table.name}", or the server')
    if left_out:
        fix = "choose the ones that matter: `tools` takes globs of their names"
        return warning(ident, f"{len(left_out)} of its tools are left out: {left_out[0]}", "The agent lacks them.", fix)
    if not kept:
        return warning(
            ident, "it offers no tool that `tools` allows", "The agent gets nothing from it.", "check `tools`"
        )
    names = ", ".join(offer.name for offer in kept[:TOOLS_NAMED]) + (", …" if len(kept) > TOOLS_NAMED else "")
    return fine(ident, f"{terms.way}, revision {revision}: {len(kept)} tools ({names}){_where(terms)}")


def _where(terms: ServerTerms) -> str:
    from tools.mcp.terms import Endpoint

    if isinstance(terms.way, Endpoint):
        return ""
    if terms.way.sandbox is None:
        return ', without a sandbox: sandbox = "external"'
    return (
        ", in a sandbox with this machine's network" if terms.way.sandbox.network else ", in a sandbox without network"
    )
