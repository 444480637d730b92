"""Databases that agents ask: each answers, and can only be read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from bot.doctor.subject import Subject, fault, fine
from bot.settings.tools.databases import DatabaseTable
from bot.wiring.tools.databases import database_of
from runtime.contract import Finding

if TYPE_CHECKING:
    from tools.databases.answers import Database

WHY_UNASKED: Final = "The tool query doesn't answer for it."
ROLE_FIX: Final = (
    "give it a role that only reads: CREATE ROLE reader LOGIN PASSWORD '…'; GRANT pg_read_all_data TO reader"
)


async def check_databases(subject: Subject) -> Sequence[Finding]:
    tables = subject.settings.databases
    return await asyncio.gather(*(_look(table) for table in tables)) if tables else []


async def _look(table: DatabaseTable) -> Finding:
    if table.url is None:
        return fault(
            f"databases.{table.name}",
            f"{table.name}: its url isn't at hand",
            WHY_UNASKED,
            f"signalbox secrets set {table.url_env}",
        )
    from tools.databases.answers import QueryFault

    database: Database = database_of(table)
    try:
        if why := await database.objection():
            return fault(f"databases.{table.name}", f"{table.name}: {why}", WHY_UNASKED, ROLE_FIX)
        columns = len((await database.tables()).rows)
    except QueryFault as error:
        return fault(
            f"databases.{table.name}",
            f"{table.name}: {error}",
            WHY_UNASKED,
            f"check the url of the database {table.name}",
        )
    return fine(f"databases.{table.name}", f"{table.name}: it answers, can only be read, and shows {columns:,} columns")
